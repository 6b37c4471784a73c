"""Statements of a client: read word by word, prepared, run, and read from again.

`lexer` makes one pass over a text; `dispatch` tells which words begin what. `connection_state`
is what a connection has set, prepared, opened and begun, `settings` what can be set;
`set_show`, `transactions`, `cursors`, `copy_out` and `prepared` are the commands that need
nobody else. A `query_handler` answers the rest.
"""
