// Command hello is the smallest whole operator: a ConfigMap, and a Service that waits for it.
package main

import (
	"context"

	"github.com/operkit/operkit/operator"
	"github.com/operkit/operkit/reconcile"
	"k8s.io/apimachinery/pkg/runtime/schema"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
)

// Hello controls resources of the kind Hello.
type Hello struct{}

// Kind implements reconcile.Controller.
func (Hello) Kind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "examples.operkit.dev", Version: "v1", Kind: "Hello"}
}

// Setup implements reconcile.Controller: what a Hello consists of, and what waits for what.
func (Hello) Setup(_ context.Context, s *reconcile.Session) error {
	var hello struct {
		Spec struct {
			To string `json:"to"`
		} `json:"spec"`
	}
	if err := s.Into(&hello); err != nil {
		return err
	}
	text := s.Add("text", corev1ac.ConfigMap(s.Name(), s.Namespace()).WithData(map[string]string{"hello": hello.Spec.To}))
	s.Add("door", corev1ac.Service(s.Name(), s.Namespace()).WithSpec(corev1ac.ServiceSpec().
		WithPorts(corev1ac.ServicePort().WithPort(80)))).After(text, reconcile.Ready)
	return nil
}

func main() {
	op := operator.New("hello-operator")
	op.Control(Hello{})
	op.Main()
}
