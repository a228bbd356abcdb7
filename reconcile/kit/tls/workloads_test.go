package tls_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/kit/podhash"
	"github.com/operkit/operkit/reconcile/kit/tls"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/stretchr/testify/assert"
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

// workshop is a shop with Deployments that are restarted when their certificates change: web, a server, worker, a client
// that waits until web is ready, and probe, which has no certificate.
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

func TestOneRestart(t *testing.T) {
	t.Parallel()
	t.Run("tls 30: a replacement of the CA restarts each program once, and no handshake fails among programs that restart only then", func(t *testing.T) {
		t.Parallel()
		h, _ := newWorkshop(t)
		server, client := &podProgram{name: "web", secret: secretWeb}, &podProgram{name: "worker", secret: secretWorker}
		server.follow(t, h)
		client.follow(t, h)
		stages := map[string]int{}
		for roll := range int64(3) {
			annotate(h, secretCA, "operkit.dev/renew", strings.Repeat("again ", int(roll)+1))
			for range 30 {
				h.Advance(5 * time.Minute)
				stages[stage(t, h)]++
				server.follow(t, h)
				require.NoError(t, handshake(server.program, client.program, "web", h.Now()), "the server is restarted first")
				client.follow(t, h)
				require.NoError(t, handshake(server.program, client.program, "web", h.Now()))
			}
			require.Equal(t, "Steady", stage(t, h))
			for _, name := range []string{"web", "worker", "probe"} {
				assert.Equal(t, roll+1, restarts(h, name), name)
			}
		}
		assert.Len(t, stages, 3)
		h.RunUntilSettled()
		h.RunUntilSettled()
		assert.Empty(t, h.Calls())
	})
	t.Run("tls 32: an ordinary renewal restarts the programs with certificates, and no others", func(t *testing.T) {
		t.Parallel()
		h, _ := newWorkshop(t)
		h.Advance(300 * day)
		for name, want := range map[string]int64{"web": 1, "worker": 1, "probe": 0} {
			assert.Equal(t, want, restarts(h, name), name)
		}
	})
	t.Run("tls 32: Digest is the annotation of the Secret that podhash reads", func(t *testing.T) {
		t.Parallel()
		h, _ := newHarness(t)
		h.Apply(newTea(nil))
		h.RunUntilSettled()
		annotation := "operkit.dev/" + podhash.DigestAnnotation
		assert.Equal(t, h.Get("ConfigMap tea-web").Object["data"].(map[string]any)["digest"], h.Get(secretWeb).GetAnnotations()[annotation])
		assert.NotEmpty(t, h.Get(bundle).GetAnnotations()[annotation])
		assert.NotEqual(t, h.Get(secretWeb).GetAnnotations()[annotation], h.Get(secretWorker).GetAnnotations()[annotation])
		h.Delete(secretCA)
		before := h.Get(bundle).GetAnnotations()[annotation]
		h.RunUntilSettled()
		assert.NotEqual(t, before, h.Get(bundle).GetAnnotations()[annotation], "a new CA")
	})
	t.Run("tls 32: a certificate that was stored by hand stays as it is, and its program is restarted once to know the new CA", func(t *testing.T) {
		t.Parallel()
		h, _ := newWorkshop(t)
		setData(t, h, secretWeb, pair(t, elsewhere(t), secretWeb))
		h.RunUntilSettled()
		byHand := dataOf(t, h.Get(secretWeb))["tls.crt"]
		before := restarts(h, "web")
		annotate(h, secretCA, "operkit.dev/renew", "now")
		h.Advance(90 * time.Minute)
		require.Equal(t, "Reissuing", stage(t, h))
		assert.Equal(t, before+1, restarts(h, "web"))
		h.Advance(2 * time.Hour)
		require.Equal(t, "Steady", stage(t, h))
		assert.Equal(t, before+1, restarts(h, "web"))
		assert.Equal(t, byHand, dataOf(t, h.Get(secretWeb))["tls.crt"])
	})
	t.Run("tls 31: with a CA that can't sign the new one, a replacement restarts programs with certificates twice", func(t *testing.T) {
		t.Parallel()
		h, _ := newWorkshop(t)
		setData(t, h, secretCA, caWithoutPath(t, h.Now()))
		h.RunUntilSettled()
		h.Ready("Shop tea")
		before := map[string]int64{"web": restarts(h, "web"), "worker": restarts(h, "worker"), "probe": restarts(h, "probe")}
		server, client := &podProgram{name: "web", secret: secretWeb}, &podProgram{name: "worker", secret: secretWorker}
		annotate(h, secretCA, "operkit.dev/renew", "now")
		for range 30 {
			h.Advance(5 * time.Minute)
			server.follow(t, h)
			client.follow(t, h)
			require.NoError(t, handshake(server.program, client.program, "web", h.Now()))
		}
		require.Equal(t, "Steady", stage(t, h))
		for name, more := range map[string]int64{"web": 2, "worker": 2, "probe": 1} {
			assert.Equal(t, before[name]+more, restarts(h, name), name)
		}
	})
}

func TestEverywhere(t *testing.T) {
	t.Parallel()
	t.Run("tls 34: a stage waits until the components that read certificates are ready, and goes on when they are", func(t *testing.T) {
		t.Parallel()
		for _, held := range []string{"web", "worker", "probe"} {
			h, events := newWorkshop(t)
			h.Hold("Deployment " + held)
			paint(h, "blue")
			h.Advance(0)
			annotate(h, secretCA, "operkit.dev/renew", "now")
			h.Advance(5 * time.Minute)
			assert.Empty(t, events.notes(tls.EventWaits), "a rollout takes some minutes")
			h.Advance(5 * time.Hour)
			assert.Equal(t, "Trusting", stage(t, h), held)
			notes := events.notes(tls.EventWaits)
			require.Len(t, notes, 1, held)
			assert.Contains(t, notes[0], "Secret tea-tls-ca: the replacement of the CA waits in the stage Trusting until all of these components are ready: web, worker, probe: ")
			h.Release()
			h.Advance(0)
			h.Ready("Shop tea")
			h.Advance(59 * time.Minute)
			assert.Equal(t, "Trusting", stage(t, h), "the wait began when all was ready")
			h.Hold("Deployment " + held)
			h.Advance(time.Minute)
			assert.Equal(t, "Reissuing", stage(t, h))
			h.Advance(5 * time.Hour)
			assert.Equal(t, "Reissuing", stage(t, h), "%s isn't restarted", held)
			assert.Len(t, events.notes(tls.EventWaits), 2)
			h.Restart()
			h.Release()
			h.Advance(59 * time.Minute)
			assert.Equal(t, "Reissuing", stage(t, h))
			h.Advance(time.Minute)
			assert.Equal(t, "Steady", stage(t, h))
			h.Ready("Shop tea")
			assert.Len(t, events.notes(tls.EventWaits), 2)
			assert.Empty(t, events.notes(tls.EventForced))
		}
	})
	for _, at := range []string{"Trusting", "Reissuing"} {
		t.Run("tls 34: while a stage waits, certificates that are due are renewed: "+at, func(t *testing.T) {
			t.Parallel()
			h, _ := newWorkshop(t)
			if at == "Trusting" {
				h.Hold("Deployment worker")
				paint(h, "blue")
			}
			h.Advance(0)
			annotate(h, secretCA, "operkit.dev/renew", "now")
			if at == "Reissuing" {
				h.Advance(0)
				h.Hold("Deployment worker")
				h.Advance(2 * time.Hour)
			}
			h.Advance(0)
			require.Equal(t, at, stage(t, h))
			issuer, before := certOf(t, h.Get(secretCA)), certOf(t, h.Get(secretWeb))
			h.Advance(300 * day)
			require.Equal(t, at, stage(t, h))
			after := certOf(t, h.Get(secretWeb))
			assert.NotEqual(t, before.SerialNumber, after.SerialNumber)
			require.NoError(t, after.CheckSignatureFrom(issuer))
			require.NoError(t, handshake(load(t, h.Get(secretWeb)), load(t, h.Get(secretWorker)), "web", h.Now()))
			h.RunUntilSettled()
			h.Writes(0)
		})
	}
	t.Run("tls 35: a component that is never ready stops the replacement until a CA is near its end, and an event says so", func(t *testing.T) {
		t.Parallel()
		h, events := newWorkshop(t, tls.CALife(300*day), tls.Life(30*day))
		h.Hold("Deployment worker")
		paint(h, "blue")
		seen := []string{}
		for range 300 {
			h.Advance(day)
			if now := stage(t, h); len(seen) == 0 || seen[len(seen)-1] != now {
				seen = append(seen, now)
			}
			// Who reads the Secrets each day is never refused.
			require.NoError(t, handshake(load(t, h.Get(secretWeb)), load(t, h.Get(secretWorker)), "web", h.Now()))
		}
		assert.Equal(t, []string{"Steady", "Trusting", "Reissuing", "Steady"}, seen)
		notes := events.notes(tls.EventForced)
		require.Len(t, notes, 2)
		assert.Contains(t, notes[0], "Secret tea-tls-ca: the stage Trusting has ended without its wait, because a CA is near the end of its life: ")
		assert.Contains(t, notes[1], "the stage Reissuing has ended without its wait")
		assert.Len(t, events.notes(tls.EventWaits), 2)
	})
}
