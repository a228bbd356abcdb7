// Command devcluster is a whole Kubernetes cluster in one program: etcd, kube-apiserver,
// kube-controller-manager, kube-scheduler, kwok and kubectl, compiled from Go modules.
//
// This package links the components and picks one by argv[0] or the first argument; everything else is in packages
// under internal that link no Kubernetes code, except for internal/provisioner. Use it for development and tests, on Linux. Don't use it to run
// containers: kwok's node only simulates them.
//
// The replace lines of go.mod pin Kubernetes' own modules, and build.env holds the flags that the
// program must be built with; 'go generate' writes both from the version of k8s.io/kubernetes.
package main

//go:generate go run ./gen-gomod
