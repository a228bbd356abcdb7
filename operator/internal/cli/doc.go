// Package cli holds the commands of an operator's program. Package operator passes them an [Operator].
package cli
