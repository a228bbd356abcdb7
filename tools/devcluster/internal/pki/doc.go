// Package pki creates the keys and certificates of one cluster.
//
// One Authority signs everything: serving certificates, the certificates of the components, and the certificates of
// users. Its keys live as long as the cluster. Use them only in a cluster for development and tests.
package pki
