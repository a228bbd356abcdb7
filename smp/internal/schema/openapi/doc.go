// Package openapi reads the types of documents from OpenAPI v3 documents, as API servers serve
// them, and from the structural schemas of CustomResourceDefinitions.
//
// Use it for kinds that aren't Kubernetes' own. It reads what says how fields merge and which there
// are; it doesn't validate.
package openapi
