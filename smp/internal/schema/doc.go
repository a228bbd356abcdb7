// Package schema is what a strategic merge knows of the types of a document: which fields there are
// and how each of them merges. The packages below it read that from what users have: builtin from
// the table of Kubernetes' own kinds, openapi from OpenAPI v3 documents and CRDs, gotype from Go
// structs.
//
// Use it inside of smp only. It reads no documents and merges nothing.
package schema
