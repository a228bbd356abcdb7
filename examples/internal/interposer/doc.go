// Package interposer stands between an operator and the API server, for tests that kill the operator at one of its
// writes.
package interposer
