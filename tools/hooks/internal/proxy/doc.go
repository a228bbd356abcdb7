// Package proxy gives programs that an operator runs, such as playbooks of Ansible, access to the API server: for one
// run, in the name of one resource.
//
// Each run gets a token of its own. Requests with it are sent as a ServiceAccount, by impersonation, and never with the
// rights of the operator. Objects that a run creates get the resource as their owner. A run can write objects of
// declared kinds only. Reads aren't limited further: what the ServiceAccount may read, the run may read. Nothing is read
// from a cache.
//
// What it can't keep from a run is what the cluster gives to the ServiceAccount: who may create Pods, for example, can
// use each ServiceAccount of their namespace in them.
//
// The proxy speaks HTTP/1.1 with TLS on a loopback address. kubectl sends tokens over TLS only, and a program that gets
// the kubeconfig of a run can tell the proxy from another program on its port.
package proxy
