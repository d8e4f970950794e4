"""The dashboard's server: pages and JSON of logs; the only room that knows Starlette."""
