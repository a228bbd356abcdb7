// Package definition has no code. One test runs an operator that defines a kind and creates an object of that kind in
// one component; the API server is a real one, which serves the kind only after its definition. Another test compares
// how package dryrun completes resources, by defaults and without unknown fields, with the API server.
package definition
