package tls_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/kit/tls"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/status"
	"github.com/operkit/operkit/status/readiness"
	"github.com/operkit/operkit/status/readiness/known"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// certManager is the module with the definitions of cert-manager. Only its files are read: nothing of it is compiled.
const certManager = "github.com/cert-manager/cert-manager@v1.21.2"

// clusterDefinition is what CloudNativePG's definition has of a Cluster, as far as this test needs it.
const clusterDefinition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: clusters.postgresql.cnpg.io}
spec:
  group: postgresql.cnpg.io
  names: {kind: Cluster, plural: clusters, singular: cluster, listKind: ClusterList}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            required: [instances]
            properties:
              instances: {type: integer, minimum: 1, default: 1}
              imageName: {type: string}
              storage: {type: object, properties: {size: {type: string}}}
          status:
            type: object
            properties:
              phase: {type: string}
              phaseReason: {type: string}
              instances: {type: integer}
              readyInstances: {type: integer}
              image: {type: string}
              conditions:
                type: array
                items:
                  type: object
                  required: [type, status, reason, message, lastTransitionTime]
                  properties:
                    type: {type: string}
                    status: {type: string, enum: ["True", "False", Unknown]}
                    reason: {type: string}
                    message: {type: string}
                    lastTransitionTime: {type: string, format: date-time}
                    observedGeneration: {type: integer}
`

// definitions returns the files with the definitions of cert-manager, from its module, and those of this test.
func definitions(t *testing.T) []string {
	t.Helper()
	download := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", certManager)
	download.Dir = t.TempDir()
	download.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	var errors bytes.Buffer
	download.Stderr = &errors
	output, err := download.Output()
	require.NoError(t, err, "%s%s", errors.String(), output)
	var module struct{ Dir string }
	require.NoError(t, json.Unmarshal(output, &module))
	var files []string
	for _, name := range []string{"certificates", "issuers"} {
		files = append(files, filepath.Join(module.Dir, "deploy", "crds", "cert-manager.io_"+name+".yaml"))
	}
	for name, content := range map[string]string{"shops.yaml": shopDefinition, "clusters.yaml": clusterDefinition} {
		file := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
		files = append(files, file)
	}
	return files
}

// gated is a shop whose component door waits for a Certificate, app for a Cluster of CloudNativePG, and web and worker
// for their certificates of tls.CertManager.
func gated() reconcile.Controller {
	return reconciletest.Controlling(shopKind, func(_ context.Context, s *reconcile.Session) error {
		settings := func(name string) map[string]any {
			return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": s.ScopedName(name)}}
		}
		certificate := s.Add("certificate", map[string]any{"apiVersion": "cert-manager.io/v1", "kind": "Certificate",
			"metadata": map[string]any{"name": s.ScopedName("door")},
			"spec": map[string]any{"secretName": s.ScopedName("door"), "dnsNames": []any{"door.example"}, "duration": "24h0m0s",
				"issuerRef": map[string]any{"kind": "ClusterIssuer", "name": "corp"}}})
		s.Add("door", settings("door")).After(certificate, reconcile.Ready)
		database := s.Add("database", map[string]any{"apiVersion": "postgresql.cnpg.io/v1", "kind": "Cluster",
			"metadata": map[string]any{"name": s.ScopedName("db")},
			"spec":     map[string]any{"instances": int64(2), "storage": map[string]any{"size": "1Gi"}}})
		s.Add("app", settings("app")).After(database, reconcile.Ready)
		server, client := &reader{}, &reader{}
		web, worker := s.Use("web", server), s.Use("worker", client)
		ca := tls.CertManager(s)
		server.cert = ca.Certificate(web, tls.Service("web", s.Namespace())...)
		client.cert = ca.Certificate(worker)
		return nil
	})
}

// databases plays CloudNativePG: it writes the phase of the Cluster, the number of ready instances and the condition
// Ready as its controller does.
func databases(h *reconciletest.Harness, phase string, instances int, ready string) {
	fields := map[string]any{"phase": phase, "instances": int64(instances), "readyInstances": int64(instances)}
	if ready != "" {
		fields["conditions"] = []any{map[string]any{"type": "Ready", "status": ready, "reason": "ClusterIsReady", "message": "", "lastTransitionTime": "2030-01-01T00:00:00Z"}}
	}
	h.SetStatus("Cluster tea-db", fields)
}

func TestGatesOnTheAPIServer(t *testing.T) {
	env := envtest.Start(t, envtest.CRDs(definitions(t)...))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c, err := cluster.New(ctx, env.Config, cluster.Namespaces(env.Namespace))
	require.NoError(t, err)
	h := reconciletest.New(t, gated(), reconciletest.On(c, time.Second), reconciletest.Namespace(env.Namespace),
		reconciletest.With(reconcile.Period(24*time.Hour), reconcile.ReadyBy(readiness.Checker{Registry: known.Kinds()})))
	p := newPlayer(t, h, env.Namespace)
	const door, app, web, worker = "ConfigMap tea-door", "ConfigMap tea-app", "ConfigMap tea-web", "ConfigMap tea-worker"
	h.Apply(newTea(map[string]any{}))

	t.Run("tls 60: on the API server: what waits for a new Certificate or Cluster isn't deployed, also after a restart", func(t *testing.T) {
		h.RunUntilSettled()
		h.Exists("Certificate tea-door", "Cluster tea-db", "Certificate tea-web-cert", "Certificate tea-worker-cert", "Certificate tea-cert-ca", "Issuer tea-cert-ca")
		h.Gone(door, app, web, worker)
		h.Restart()
		h.RunUntilSettled()
		h.Gone(door, app, web, worker)
		h.Writes(0)
		assert.Contains(t, h.Condition("Shop tea", status.ConditionReady).Message, "hasn't handled the object", "the definition of requests isn't there, which is no error")
	})
	t.Run("tls 60: on the API server: a Cluster opens its gate when all that CloudNativePG writes says that it is ready", func(t *testing.T) {
		for _, row := range []struct {
			phase     string
			instances int
			ready     string
		}{
			{"Setting up primary", 0, "False"}, {"Creating a new replica", 1, "False"}, {"Cluster in healthy state", 1, "False"},
			{"Cluster in healthy state", 2, "False"},
		} {
			databases(h, row.phase, row.instances, row.ready)
			h.RunUntilSettled()
			h.Gone(app)
		}
		databases(h, "Cluster in healthy state", 2, "True")
		h.Restart()
		h.RunUntilSettled()
		h.Exists(app)
		h.Gone(door, web, worker)
	})
	t.Run("tls 60: on the API server: a Certificate opens its gate when it is Ready, and its Secret is there", func(t *testing.T) {
		for _, name := range []string{"tea-door", "tea-web-cert"} {
			certificate := h.Get("Certificate " + name)
			h.SetStatus("Certificate "+name, map[string]any{"conditions": []any{
				condition(certificate, "Ready", "False", "DoesNotExist", "Issuing certificate as Secret does not exist"),
				condition(certificate, "Issuing", "True", "DoesNotExist", "Issuing certificate as Secret does not exist"),
			}})
		}
		h.RunUntilSettled()
		h.Gone(door, web, worker)
		for range 2 {
			p.play()
			h.RunUntilSettled()
		}
		h.Ready("Shop tea")
		h.Exists(door, app, web, worker)
	})
	t.Run("tls 61: on the API server: two components speak mutual TLS by certificates of cert-manager, and the bundle has their CA", func(t *testing.T) {
		require.NoError(t, handshake(load(t, h.Get(orderedWeb)), load(t, h.Get(orderedWorker)), "web", time.Now()))
		require.NoError(t, inOrder(t, h))
		assert.Equal(t, "tea-web-cert", text(h.Get(web), "data", "secret"))
	})
	t.Run("tls 62: on the API server: settled, it costs no call, and a restart writes nothing", func(t *testing.T) {
		h.RunUntilSettled()
		mark := env.Mark(t)
		result, err := h.Reconcile("Shop tea")
		require.NoError(t, err)
		assert.Positive(t, result.RequeueAfter)
		assert.Empty(t, env.CallsSince(t, mark).Count())
		h.Restart()
		h.RunUntilSettled()
		h.Writes(0)
		h.Ready("Shop tea")
	})
	t.Run("tls 62: on the API server: a renewal and another CA reach the components by the events of their Secrets", func(t *testing.T) {
		before := text(h.Get(web), "data", "digest")
		h.Delete(orderedCA)
		p.play()
		p.renew("tea-web-cert")
		h.RunUntilSettled()
		h.Ready("Shop tea")
		require.NoError(t, inOrder(t, h), "only one of the two has a certificate of the new CA")
		assert.NotEqual(t, before, text(h.Get(web), "data", "digest"))
		h.RunUntilSettled()
		h.Writes(0)
	})
	h.Delete("Shop tea")
}
