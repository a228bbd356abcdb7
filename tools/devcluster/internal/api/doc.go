// Package api speaks the few words of the Kubernetes API that a supervisor needs: is the server up,
// read an object, create an object.
//
// It exists so that the supervisor and its tests link no Kubernetes library. It has no watches, no
// paging and no types; a program that needs those uses client-go.
package api
