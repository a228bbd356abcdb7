// Package pki makes the keys and certificates of one cluster.
//
// One Authority signs everything: serving certificates, the certificates of the components and those
// of users. Its keys live as long as the cluster and protect nothing else; use no certificate from
// here outside a cluster for development and tests.
package pki
