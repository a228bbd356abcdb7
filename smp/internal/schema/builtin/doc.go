// Package builtin has the types of Kubernetes' own stable kinds, in a table that is generated from the structs of
// k8s.io/api, so that programs don't have to link these structs.
//
// Use it for kinds that every cluster has. Custom resources are read by package openapi. A kind is read from the table
// when it is first requested, so a program that uses no kind has no cost.
package builtin
