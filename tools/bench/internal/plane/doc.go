// Package plane is the control plane that one operator is measured on: a new one for each round, with an audit log in
// which the operator's requests are counted.
package plane
