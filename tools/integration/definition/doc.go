// Package definition has no code: its test runs an operator that defines a kind and creates an object of that kind in
// one component. The API server is a real one, which serves the kind only after its definition.
package definition
