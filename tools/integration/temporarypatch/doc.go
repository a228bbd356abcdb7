// Package temporarypatch has no code: its tests let a person patch what an operator renders on a real API server,
// which checks the patches by the schema and the rules of their definition.
package temporarypatch
