package tls_test

import (
	"context"
	"time"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/kit/podhash"
	"github.com/operkit/operkit/reconcile/kit/tls"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// workload returns a Deployment whose Pods mount volume. colour changes it.
func workload(name, colour string, volume map[string]any) map[string]any {
	volume["name"] = "tls"
	labels := map[string]any{"app": name}
	return map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": name}, "spec": map[string]any{
		"selector": map[string]any{"matchLabels": labels},
		"template": map[string]any{"metadata": map[string]any{"labels": labels}, "spec": map[string]any{
			"volumes":    []any{volume},
			"containers": []any{map[string]any{"name": name, "image": name, "env": []any{map[string]any{"name": "COLOUR", "value": colour}}}},
		}},
	}}
}

// workshop is a shop with Deployments that are restarted when their certificates change: web, a server, worker, a
// client that waits until web is ready, and probe, which has no certificate.
func workshop(opts ...tls.Option) reconcile.Controller {
	return reconciletest.Controlling(shopKind, func(_ context.Context, s *reconcile.Session) error {
		colour, _, _ := unstructured.NestedString(s.Resource().Object, "spec", "colour")
		ca := tls.Own(s, opts...)
		web, worker, probe := s.Add("web"), s.Add("worker"), s.Add("probe")
		worker.After(web, reconcile.Ready)
		server, client := ca.Certificate(web, tls.Service("web", s.Namespace())...), ca.Certificate(worker)
		web.Add("", workload("web", colour, map[string]any{"secret": map[string]any{"secretName": server.Secret()}}))
		worker.Add("", workload("worker", colour, map[string]any{"secret": map[string]any{"secretName": client.Secret()}}))
		probe.Add("", workload("probe", colour, map[string]any{"configMap": map[string]any{"name": ca.Bundle(probe)}}))
		return nil
	})
}

func newWorkshop(t reconciletest.T, opts ...tls.Option) (*reconciletest.Harness, *recorder) {
	t.Helper()
	events := &recorder{}
	h := reconciletest.New(t, workshop(opts...), reconciletest.Events(events),
		reconciletest.With(reconcile.Period(24*time.Hour), reconcile.Recheck(12*time.Hour), podhash.Components()))
	h.Apply(newTea(map[string]any{"colour": "red"}))
	h.RunUntilSettled()
	h.Ready("Shop tea")
	return h, events
}

// paint changes all Deployments.
func paint(h *reconciletest.Harness, colour string) {
	h.Edit("Shop tea", func(obj *unstructured.Unstructured) { obj.Object["spec"] = map[string]any{"colour": colour} })
}

// restarts returns how often the template of a Deployment has changed since it was made.
func restarts(h *reconciletest.Harness, name string) int64 {
	return h.Get("Deployment "+name).GetGeneration() - 1
}

// podProgram is a program that reads its Secret when its Pod is started.
type podProgram struct {
	name, secret string
	*program
	generation int64
}

// follow restarts the program if its Deployment has been rolled out.
func (p *podProgram) follow(t require.TestingT, h *reconciletest.Harness) {
	deployment := h.Get("Deployment " + p.name)
	observed, _, _ := unstructured.NestedInt64(deployment.Object, "status", "observedGeneration")
	if observed != p.generation {
		p.generation, p.program = observed, load(t, h.Get(p.secret))
	}
}
