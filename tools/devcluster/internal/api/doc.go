// Package api is a minimal Kubernetes client for the supervisor: it checks the server's health, and reads, creates and
// deletes objects.
//
// It exists so that the supervisor and its tests link no Kubernetes library. It has no watches, no paging and no types;
// use client-go if you need them.
package api
