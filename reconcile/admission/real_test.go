package admission_test

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile/admission"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

const thingDefinition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Thing, listKind: ThingList, plural: things, singular: thing}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

// site is an API server with things, and the webhooks about them.
type site struct {
	t        *testing.T
	things   dynamic.ResourceInterface
	server   *httptest.Server
	warnings *warned

	mu    sync.Mutex
	calls []string
}

// called records a call of the validator.
func (s *site) called(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, text)
}

// takeCalls returns the calls since the last time.
func (s *site) takeCalls() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	calls := s.calls
	s.calls = nil
	return calls
}

type warned struct{ texts []string }

func (w *warned) HandleWarningHeader(_ int, _, text string) { w.texts = append(w.texts, text) }

// newSite serves the webhooks of hooks, which get the options that limit them to the namespace of the test.
func newSite(t *testing.T, hooks func(s *site, options ...admission.KindOption) *admission.Hooks[thing]) *site {
	file := filepath.Join(t.TempDir(), "things.yaml")
	require.NoError(t, os.WriteFile(file, []byte(thingDefinition), 0o600))
	env := envtest.Start(t, envtest.CRDs(file))
	s := &site{t: t, warnings: &warned{}}
	config := rest.CopyConfig(env.Admin)
	config.WarningHandler = s.warnings
	client, err := dynamic.NewForConfig(config)
	require.NoError(t, err)
	s.things = client.Resource(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "things"}).Namespace(env.Namespace)
	webhooks := webhooksOf(t, hooks(s, admission.Namespaces(metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": env.Namespace}})))
	mux := http.NewServeMux()
	for _, webhook := range webhooks {
		mux.Handle(webhook.Path(), webhook.Handler(slog.New(slog.DiscardHandler)))
	}
	s.server = httptest.NewTLSServer(mux)
	t.Cleanup(s.server.Close)
	s.configure(env.Namespace, config, webhooks)
	return s
}

// configure creates the configurations, and waits until they are in force.
func (s *site) configure(name string, config *rest.Config, webhooks []*admission.Webhook) {
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.server.Certificate().Raw})
	validating, mutating := admission.Configurations(name, admission.Target{URL: s.server.URL, CA: ca}, resources, webhooks...)
	client, err := dynamic.NewForConfig(config)
	require.NoError(s.t, err)
	for resource, configuration := range map[string]any{"validatingwebhookconfigurations": validating, "mutatingwebhookconfigurations": mutating} {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(configuration)
		require.NoError(s.t, err)
		api := client.Resource(admissionregistrationv1.SchemeGroupVersion.WithResource(resource))
		_, err = api.Create(s.t.Context(), &unstructured.Unstructured{Object: content}, metav1.CreateOptions{})
		require.NoError(s.t, err)
		s.t.Cleanup(func() {
			assert.NoError(s.t, api.Delete(context.WithoutCancel(s.t.Context()), name, metav1.DeleteOptions{}))
		})
	}
	require.Eventually(s.t, func() bool {
		probe, err := s.create("probe", content{"size": int64(1)}, metav1.DryRunAll)
		return apierrors.IsForbidden(err) || err == nil && probe == nil
	}, 30*time.Second, 50*time.Millisecond, "the webhooks are called")
}

func (s *site) create(name string, spec content, dryRun ...string) (*unstructured.Unstructured, error) {
	return s.things.Create(s.t.Context(), &unstructured.Unstructured{Object: content{
		"apiVersion": "example.com/v1", "kind": "Thing", "metadata": content{"name": name}, "spec": spec,
	}}, metav1.CreateOptions{DryRun: dryRun, FieldManager: "joe"})
}

func TestOnTheAPIServer(t *testing.T) {
	s := newSite(t, func(s *site, options ...admission.KindOption) *admission.Hooks[thing] {
		hooks := admission.New[thing](things, append(options, admission.Within(2*time.Second))...)
		hooks.Mutate("colour", func(_ context.Context, r *thingRequest) error {
			if r.Object.Spec.Colour == "" {
				r.Object.Spec.Colour = "green"
			}
			return nil
		})
		hooks.Validate("size", func(ctx context.Context, r *thingRequest) error {
			s.called(fmt.Sprintf("%s %s %s by %s dry=%t %v", r.Operation, r.Subresource, r.Ref.Name, r.User.Username, r.DryRun, r.Options()["fieldManager"]))
			switch {
			case r.Ref.Name == "probe":
				return admission.Deny("only a probe")
			case r.Object.Spec.Colour == "panic":
				panic("odd")
			case r.Object.Spec.Colour == "slow":
				<-ctx.Done()
				return ctx.Err()
			case r.Object.Spec.Colour == "pink":
				r.Warn("pink is going out of fashion")
			case r.Old != nil && r.Object.Spec.Size < r.Old.Spec.Size:
				return field.Forbidden(field.NewPath("spec", "size"), "a thing can't shrink")
			}
			return nil
		})
		return hooks
	})
	t.Run("admission 14: on the API server: what a mutator sets is stored, and what its type doesn't know stays", func(t *testing.T) {
		s.takeCalls()
		made, err := s.create("a", content{"size": int64(3), "more": content{"x": int64(9007199254740993)}})
		require.NoError(t, err)
		assert.Equal(t, content{"size": int64(3), "colour": "green", "more": content{"x": int64(9007199254740993)}}, made.Object["spec"])
		calls := s.takeCalls()
		require.Len(t, calls, 1)
		assert.Regexp(t, "^CREATE  a by .+ dry=false joe$", calls[0])
	})
	t.Run("admission 14: on the API server: a denial names the field, and has a cause", func(t *testing.T) {
		smaller, err := s.things.Get(t.Context(), "a", metav1.GetOptions{})
		require.NoError(t, err)
		require.NoError(t, unstructured.SetNestedField(smaller.Object, int64(2), "spec", "size"))
		_, err = s.things.Update(t.Context(), smaller, metav1.UpdateOptions{})
		assert.EqualError(t, err, `admission webhook "validate.thing.example.com" denied the request: Thing.example.com "a" is invalid: spec.size: Forbidden: a thing can't shrink`)
		status, ok := errors.AsType[*apierrors.StatusError](err)
		require.True(t, ok)
		assert.EqualValues(t, 422, status.ErrStatus.Code)
		assert.Equal(t, []metav1.StatusCause{{Type: metav1.CauseTypeForbidden, Message: "Forbidden: a thing can't shrink", Field: "spec.size"}}, status.ErrStatus.Details.Causes)
	})
	t.Run("admission 14: on the API server: warnings arrive, and a dry run is said to be one", func(t *testing.T) {
		s.takeCalls()
		s.warnings.texts = nil
		_, err := s.create("b", content{"size": int64(1), "colour": "pink"}, metav1.DryRunAll)
		require.NoError(t, err)
		assert.Equal(t, []string{"pink is going out of fashion"}, s.warnings.texts)
		assert.Contains(t, s.takeCalls()[0], "dry=true")
	})
	t.Run("admission 14: on the API server: the status is another subresource, and asks nobody", func(t *testing.T) {
		s.takeCalls()
		live, err := s.things.Get(t.Context(), "a", metav1.GetOptions{})
		require.NoError(t, err)
		live.Object["status"] = content{"open": true}
		_, err = s.things.UpdateStatus(t.Context(), live, metav1.UpdateOptions{})
		require.NoError(t, err)
		assert.Empty(t, s.takeCalls())
	})
	t.Run("admission 14: on the API server: a panic, and a function that takes too long, leave it to the failure policy", func(t *testing.T) {
		_, err := s.create("c", content{"colour": "panic"})
		assert.ErrorContains(t, err, `failed calling webhook "validate.thing.example.com"`)
		assert.NotContains(t, err.Error(), "odd")
		_, err = s.create("c", content{"colour": "slow"})
		assert.ErrorContains(t, err, "validate.thing.example.com")
	})
	t.Run("admission 14: on the API server: without an operator requests are denied", func(t *testing.T) {
		s.server.Close()
		_, err := s.create("d", content{})
		assert.ErrorContains(t, err, "failed calling webhook")
	})
}
