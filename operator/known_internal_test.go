package operator

import (
	"context"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/operkit/operkit/status/readiness"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// secured has a certificate, and a server that waits for it.
type secured struct{ nothing }

func (secured) Setup(_ context.Context, s *reconcile.Session) error {
	certificate := s.Add("certificate", reconcile.YAML("{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: tls}, spec: {secretName: tls, issuerRef: {name: ca}}}"))
	s.Add("server", reconcile.YAML("{apiVersion: v1, kind: ConfigMap, metadata: {name: server}}")).After(certificate, reconcile.Ready)
	return nil
}

func TestKnownKindsOfStyles(t *testing.T) {
	t.Parallel()
	certificate := &unstructured.Unstructured{}
	certificate.SetGroupVersionKind(schema.GroupVersionKind{Group: "cert-manager.io", Version: "v1", Kind: "Certificate"})
	certificate.SetName("tls")
	r := &runner{process: settled(t)}
	for name, take := range map[string]func(c watch.Controller){
		"operator 19: the reconciler of a style has the rules": func(c watch.Controller) {
			_, err := r.drive(t.Context(), controller{kind: c.Kind(), driven: c}, nil, &latePatcher{})
			require.NoError(t, err)
		},
		"operator 19: so has one that only names its finalizers": func(c watch.Controller) {
			r.operator.Drive(c)
			_, err := r.finalizers(t.Context(), c.Kind(), nil)
			require.NoError(t, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got readiness.Result
			take(watch.NewController(nothing{}.Kind(), func(_ context.Context, env watch.Env) (watch.Reconciler, error) {
				got = env.Readiness.Of(certificate)
				return still{}, nil
			}))
			assert.Equal(t, readiness.InProgress, got.State)
		})
	}
}

// still is a reconciler that does nothing.
type still struct{}

func (still) Reconcile(context.Context, request.Request) (request.Result, error) {
	return request.Result{}, nil
}

func TestKnownKinds(t *testing.T) {
	t.Parallel()
	certificates := schema.GroupKind{Group: "cert-manager.io", Kind: "Certificate"}
	for _, row := range []struct {
		reason  string
		options []reconcile.Option
		status  string
		deploys bool
	}{
		{reason: "operator 19: what waits for a new Certificate isn't deployed"},
		{reason: "operator 19: it is once the Certificate is ready", deploys: true, status: `{"conditions":[{"type":"Ready","status":"True"}]}`},
		{reason: "operator 19: the program may leave the rule out", deploys: true, options: []reconcile.Option{
			reconcile.ReadyBy(readiness.Checker{Registry: readiness.Registry{certificates: {}}}),
		}},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			resource := &unstructured.Unstructured{}
			resource.SetGroupVersionKind(nothing{}.Kind())
			resource.SetNamespace("shop")
			resource.SetName("a")
			cluster, err := dryrun.New(dryrun.AnyKind(), dryrun.Objects(resource))
			require.NoError(t, err)
			manager, err := deploy.NewManager(cluster)
			require.NoError(t, err)
			p := settled(t)
			options := p.optionsOf(controller{options: append(row.options, reconcile.Status(reconcile.NoStatus))})
			r, err := reconcile.New(secured{}, manager, options...)
			require.NoError(t, err)
			key := deploy.Ref{Kind: nothing{}.Kind(), Namespace: "shop", Name: "a"}
			_, err = r.Reconcile(t.Context(), request.Request{Key: key})
			require.NoError(t, err)
			if row.status != "" {
				ref := deploy.Ref{Kind: certificates.WithVersion("v1"), Namespace: "shop", Name: "tls"}
				_, err := cluster.Port().Patch(t.Context(), ref, deploy.PatchRequest{
					Type: types.MergePatchType, Body: []byte(`{"status":` + row.status + `}`), Subresource: "status", FieldManager: "cert-manager",
				})
				require.NoError(t, err)
				_, err = r.Reconcile(t.Context(), request.Request{Key: key})
				require.NoError(t, err)
			}
			server, err := manager.View().Get(t.Context(), deploy.Ref{Kind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, Namespace: "shop", Name: "server"})
			require.NoError(t, err)
			assert.Equal(t, row.deploys, server != nil)
		})
	}
}
