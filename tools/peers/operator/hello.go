package main

import (
	"context"

	"github.com/operkit/operkit/reconcile"
	"k8s.io/apimachinery/pkg/runtime/schema"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
)

// Hello is a controller of a new kind, which is operkit's from the beginning.
type Hello struct{}

// Kind implements reconcile.Controller.
func (Hello) Kind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "examples.operkit.dev", Version: "v1", Kind: "Hello"}
}

// Setup implements reconcile.Controller.
func (Hello) Setup(_ context.Context, s *reconcile.Session) error {
	var hello struct {
		Spec struct {
			To string `json:"to"`
		} `json:"spec"`
	}
	if err := s.Into(&hello); err != nil {
		return err
	}
	s.Add("text", corev1ac.ConfigMap(s.Name(), s.Namespace()).WithData(map[string]string{"hello": hello.Spec.To}))
	return nil
}
