// Package cli holds the commands of an operator's program. Package operator says what they need to know of the
// operator.
package cli
