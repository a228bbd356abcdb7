// Package openapi reads the types of documents from OpenAPI v3 documents, as API servers serve
// them, and from the structural schemas of CustomResourceDefinitions.
//
// Use it for kinds that aren't Kubernetes' own. It reads which fields a type has and how they merge. It doesn't
// validate documents.
package openapi
