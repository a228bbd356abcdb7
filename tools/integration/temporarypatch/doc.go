// Package temporarypatch has no code: in its tests a person patches the objects of an operator on a real API server,
// which validates the patches by the schema and the rules of their definition.
package temporarypatch
