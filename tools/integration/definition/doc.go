// Package definition has no code: its test lets an operator define a kind and make an object of it in one component, on
// a real API server, which serves the kind only after it was defined.
package definition
