// Package tls gives the components of a session certificates, for servers and for clients:
//
//	ca := tls.Own(s)
//	server := ca.Certificate(web, tls.Service("web", s.Namespace())...)
//	client := ca.Certificate(worker)
//
// Both get a Secret of the type kubernetes.io/tls, with the keys tls.crt, tls.key and ca.crt. They are for mutual TLS:
// each side presents tls.crt with tls.key, and trusts ca.crt.
//
// A Source is where certificates come from; a component changes it in one line. Own has a CA of its own for each
// resource, in a Secret, and needs nothing else in the cluster. A leaf is replaced when two thirds of its life have
// passed, and when its names change. The CA is replaced in stages, so that programs that read their Secrets anew trust
// each other at any time; programs that read them only at their start have to be restarted once in a replacement, see
// Certificate.Digest.
//
// CertManager is a Source for clusters with cert-manager: the same calls make Certificates, and components wait until
// these are issued. It uses unstructured objects, and links nothing of cert-manager.
//
// All times are of the session's clock. What is decided is stored in the Secrets: a process that is killed at any
// write is continued by the next one.
package tls
