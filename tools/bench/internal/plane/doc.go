// Package plane is the control plane that one operator is measured on: a fresh one for each round, with an audit log
// that counts what the operator asks of it.
package plane
