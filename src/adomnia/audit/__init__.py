"""What an attacker learns is here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adomnia.exports import Exports

if TYPE_CHECKING:
    from adomnia.audit.attack import Attack, CheckedOptions, Option, option, options_of
    from adomnia.audit.claims.audit_target import AuditTarget
    from adomnia.audit.claims.broken_mechanisms import BROKEN_MECHANISMS, broken_mechanism
    from adomnia.audit.claims.claim import refute
    from adomnia.audit.claims.named_targets import target_named
    from adomnia.audit.claims.reference_mechanisms import REFERENCE_MECHANISMS, reference_mechanism
    from adomnia.audit.correlation.correlation import Chain, Groups, odds_factor
    from adomnia.audit.correlation.discriminant import discriminant, free_lunch_bound, game
    from adomnia.audit.correlation.questionnaire import QUESTIONS, Advice, Answers, advise
    from adomnia.audit.disclosure.closeness import closeness_probability, integer_closeness
    from adomnia.audit.disclosure.disclosure import disclosures
    from adomnia.audit.disclosure.disclosure_report import DisclosureReport, DisclosureTerms
    from adomnia.audit.exact_releases.attacks import ExactReleases, PriorLeak, System
    from adomnia.audit.exact_releases.prior_leak import chain_leak, prior_leak
    from adomnia.audit.finding import Finding, Rate, wilson
    from adomnia.audit.linkage.attacks import (
        Intersection,
        Linkage,
        RatingsAttack,
        TwoFiles,
        Uniqueness,
    )
    from adomnia.audit.linkage.equivalence_classes import PublishedFile
    from adomnia.audit.linkage.intersection import intersection
    from adomnia.audit.linkage.linkage import Shared, link_exactly, link_probably
    from adomnia.audit.linkage.scoreboard import Hunt, Ratings, scoreboard, scoreboard_curve
    from adomnia.audit.linkage.uniqueness import Anonymity, anonymity, uniqueness
    from adomnia.audit.networks.active_attack import (
        Coalition,
        PlantedAccounts,
        active_attack,
        passive_attack,
    )
    from adomnia.audit.networks.attacks import NetworkAttack, PublishedNetwork
    from adomnia.audit.networks.influence import InfluenceReport, influence
    from adomnia.audit.networks.pattern import AdjacencyLists
    from adomnia.audit.reconstruction.attacks import (
        Averaging,
        CountOracle,
        Decoding,
        Microdata,
        Reconstruct,
        SumOracle,
        Tracker,
    )
    from adomnia.audit.reconstruction.averaging import averaging, repeats_needed
    from adomnia.audit.reconstruction.decoding import Channel, LinearAnswers, decode, decoding_curve
    from adomnia.audit.reconstruction.hadamard import hadamard
    from adomnia.audit.reconstruction.microdata import microdata
    from adomnia.audit.reconstruction.noisy_tables import NoisyMarginal, best_guess
    from adomnia.audit.reconstruction.published_statistics import (
        CellLayout,
        Count,
        LinearConstraint,
        Mean,
        Median,
    )
    from adomnia.audit.reconstruction.reconstruct import ceiling, figures, reconstruct
    from adomnia.audit.reconstruction.subset_sums import subset_sums, subset_sums_curve
    from adomnia.audit.reconstruction.table_files import PublishedTables
    from adomnia.audit.reconstruction.tracker import differencing, tracker
    from adomnia.audit.registry import attack_named, attack_names
    from adomnia.audit.synthetic.attacks import Inference, Membership, SinglingOut
    from adomnia.audit.synthetic.coded_files import Population
    from adomnia.audit.synthetic.inference import attribute_inference
    from adomnia.audit.synthetic.membership import membership
    from adomnia.audit.synthetic.shadows import RecordGenerator
    from adomnia.audit.synthetic.singling_out import singling_out

_MEMBERS = {
    "attack": "Attack CheckedOptions Option option options_of",
    "claims.audit_target": "AuditTarget",
    "claims.broken_mechanisms": "BROKEN_MECHANISMS broken_mechanism",
    "claims.claim": "refute",
    "claims.named_targets": "target_named",
    "claims.reference_mechanisms": "REFERENCE_MECHANISMS reference_mechanism",
    "correlation.correlation": "Chain Groups odds_factor",
    "correlation.discriminant": "discriminant free_lunch_bound game",
    "correlation.questionnaire": "QUESTIONS Advice Answers advise",
    "disclosure.closeness": "closeness_probability integer_closeness",
    "disclosure.disclosure": "disclosures",
    "disclosure.disclosure_report": "DisclosureReport DisclosureTerms",
    "exact_releases.attacks": "ExactReleases PriorLeak System",
    "exact_releases.prior_leak": "chain_leak prior_leak",
    "finding": "Finding Rate wilson",
    "linkage.attacks": "Intersection Linkage RatingsAttack TwoFiles Uniqueness",
    "linkage.equivalence_classes": "PublishedFile",
    "linkage.intersection": "intersection",
    "linkage.linkage": "Shared link_exactly link_probably",
    "linkage.scoreboard": "Hunt Ratings scoreboard scoreboard_curve",
    "linkage.uniqueness": "Anonymity anonymity uniqueness",
    "networks.active_attack": "PlantedAccounts Coalition active_attack passive_attack",
    "networks.attacks": "NetworkAttack PublishedNetwork",
    "networks.influence": "InfluenceReport influence",
    "networks.pattern": "AdjacencyLists",
    "reconstruction.attacks": "Averaging CountOracle Decoding Microdata Reconstruct "
    "SumOracle Tracker",
    "reconstruction.averaging": "averaging repeats_needed",
    "reconstruction.decoding": "Channel LinearAnswers decode decoding_curve",
    "reconstruction.hadamard": "hadamard",
    "reconstruction.microdata": "microdata",
    "reconstruction.noisy_tables": "NoisyMarginal best_guess",
    "reconstruction.published_statistics": "CellLayout Count LinearConstraint Mean Median",
    "reconstruction.reconstruct": "ceiling figures reconstruct",
    "reconstruction.subset_sums": "subset_sums subset_sums_curve",
    "reconstruction.table_files": "PublishedTables",
    "reconstruction.tracker": "differencing tracker",
    "registry": "attack_named attack_names",
    "synthetic.attacks": "Inference Membership SinglingOut",
    "synthetic.coded_files": "Population",
    "synthetic.inference": "attribute_inference",
    "synthetic.membership": "membership",
    "synthetic.shadows": "RecordGenerator",
    "synthetic.singling_out": "singling_out",
}
"""What each module of the room gives to everybody."""

__all__ = [
    "BROKEN_MECHANISMS",
    "QUESTIONS",
    "REFERENCE_MECHANISMS",
    "AdjacencyLists",
    "Advice",
    "Anonymity",
    "Answers",
    "Attack",
    "AuditTarget",
    "Averaging",
    "CellLayout",
    "Chain",
    "Channel",
    "CheckedOptions",
    "Coalition",
    "Count",
    "CountOracle",
    "Decoding",
    "DisclosureReport",
    "DisclosureTerms",
    "ExactReleases",
    "Finding",
    "Groups",
    "Hunt",
    "Inference",
    "InfluenceReport",
    "Intersection",
    "LinearAnswers",
    "LinearConstraint",
    "Linkage",
    "Mean",
    "Median",
    "Membership",
    "Microdata",
    "NetworkAttack",
    "NoisyMarginal",
    "Option",
    "PlantedAccounts",
    "Population",
    "PriorLeak",
    "PublishedFile",
    "PublishedNetwork",
    "PublishedTables",
    "Rate",
    "Ratings",
    "RatingsAttack",
    "Reconstruct",
    "RecordGenerator",
    "Shared",
    "SinglingOut",
    "SumOracle",
    "System",
    "Tracker",
    "TwoFiles",
    "Uniqueness",
    "active_attack",
    "advise",
    "anonymity",
    "attack_named",
    "attack_names",
    "attribute_inference",
    "averaging",
    "best_guess",
    "broken_mechanism",
    "ceiling",
    "chain_leak",
    "closeness_probability",
    "decode",
    "decoding_curve",
    "differencing",
    "disclosures",
    "discriminant",
    "figures",
    "free_lunch_bound",
    "game",
    "hadamard",
    "influence",
    "integer_closeness",
    "intersection",
    "link_exactly",
    "link_probably",
    "membership",
    "microdata",
    "odds_factor",
    "option",
    "options_of",
    "passive_attack",
    "prior_leak",
    "reconstruct",
    "reference_mechanism",
    "refute",
    "repeats_needed",
    "scoreboard",
    "scoreboard_curve",
    "singling_out",
    "subset_sums",
    "subset_sums_curve",
    "target_named",
    "tracker",
    "uniqueness",
    "wilson",
]

_EXPORTS = Exports(__name__, _MEMBERS)
__getattr__, __dir__ = _EXPORTS.load, _EXPORTS.names
