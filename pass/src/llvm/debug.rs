//! Debug locations and scopes.
