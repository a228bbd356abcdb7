package cluster_test

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

// converter is the conversion webhook of a kind whose versions don't differ. It can be broken.
type converter struct {
	broken atomic.Bool
}

func (c *converter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if c.broken.Load() {
		http.Error(w, "out of order", http.StatusInternalServerError)
		return
	}
	var review struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Request    struct {
			UID               string           `json:"uid"`
			DesiredAPIVersion string           `json:"desiredAPIVersion"`
			Objects           []map[string]any `json:"objects"`
		} `json:"request"`
	}
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, &review)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	for _, obj := range review.Request.Objects {
		obj["apiVersion"] = review.Request.DesiredAPIVersion
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"apiVersion": review.APIVersion, "kind": review.Kind, "response": map[string]any{
		"uid": review.Request.UID, "convertedObjects": review.Request.Objects, "result": map[string]any{"status": "Success"},
	}})
}

// converted is a kind that is stored as v1 and served as v2 too, which takes the webhook.
type converted struct {
	t           *testing.T
	client      dynamic.Interface
	definitions dynamic.ResourceInterface
	name        string
	webhook     *converter
	server      *httptest.Server
	v1, v2      schema.GroupVersionKind
	at          dynamic.ResourceInterface
}

func newConverted(t *testing.T, env *envtest.Env) *converted {
	t.Helper()
	client, err := dynamic.NewForConfig(env.Admin)
	require.NoError(t, err)
	group := env.Namespace + ".operkit.dev"
	k := &converted{
		t: t, client: client, name: "moulds." + group, webhook: &converter{},
		definitions: client.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}),
		v1:          schema.GroupVersionKind{Group: group, Version: "v1", Kind: "Mould"}, v2: schema.GroupVersionKind{Group: group, Version: "v2", Kind: "Mould"},
		at: client.Resource(schema.GroupVersionResource{Group: group, Version: "v1", Resource: "moulds"}).Namespace(env.Namespace),
	}
	k.server = httptest.NewUnstartedServer(k.webhook)
	k.server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	k.server.StartTLS()
	t.Cleanup(k.server.Close)
	authority := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: k.server.Certificate().Raw}))
	_, err = k.definitions.Create(t.Context(), object(t, "", fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[1]s}
spec:
  group: %[2]s
  names: {kind: Mould, listKind: MouldList, plural: moulds, singular: mould}
  scope: Namespaced
  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: %[3]q, caBundle: %[4]s}}}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
  - {name: v2, served: true, storage: false, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}`,
		k.name, group, k.server.URL+"/convert", authority)), metav1.CreateOptions{})
	require.NoError(t, err)
	undone := newCluster(t, env.Admin)
	t.Cleanup(func() { undefine(t, env, "moulds") })
	require.NoError(t, undone.View().(deploy.KindView).Served(t.Context(), k.v2))
	return k
}

func (k *converted) create(name string) string {
	k.t.Helper()
	require.Eventually(k.t, func() bool {
		obj := object(k.t, "", "{kind: Mould, metadata: {name: "+name+"}}")
		obj.SetGroupVersionKind(k.v1)
		_, err := k.at.Create(k.t.Context(), obj, metav1.CreateOptions{})
		return err == nil
	}, patience, 50*time.Millisecond)
	return name
}

// withoutWebhook has the API server do what the webhook does.
func (k *converted) withoutWebhook() {
	k.t.Helper()
	_, err := k.definitions.Patch(k.t.Context(), k.name, types.MergePatchType, []byte(`{"spec":{"conversion":{"strategy":"None","webhook":null}}}`), metav1.PatchOptions{})
	require.NoError(k.t, err)
}

// A kind whose objects the API server can't convert can't be watched: that is said once, other kinds and versions go
// on, and the kind comes back by itself.
func TestFailingConversion(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	k := newConverted(t, env)
	k.webhook.broken.Store(true)
	name := func(what, of string) string { return what + " " + env.Namespace + "/" + of }
	k.create("a")

	said := &lines{}
	c := newCluster(t, env.Config, cluster.Namespaces(env.Namespace), cluster.Logger(slog.New(slog.NewTextHandler(said, nil))))
	var stored, needsIt, other told
	_, err := c.View().Subscribe(t.Context(), k.v2, needsIt.handle)
	require.NoError(t, err)
	_, err = c.View().Subscribe(t.Context(), k.v1, stored.handle)
	require.NoError(t, err)
	_, err = c.View().Subscribe(t.Context(), service, other.handle)
	require.NoError(t, err)

	stored.take(t, name("ADDED", "a"))
	require.Eventually(t, func() bool { return said.count("watch failed") == 1 }, patience, 10*time.Millisecond, "%s", said)
	mark := env.Mark(t)
	time.Sleep(3 * time.Second)
	assert.LessOrEqual(t, len(env.CallsSince(t, mark)), 8, "with ever longer pauses")
	_, err = c.View().Get(t.Context(), deploy.Ref{Kind: k.v2, Namespace: env.Namespace, Name: "a"})
	require.ErrorContains(t, err, "conversion webhook", "it isn't taken for absent")
	_, err = others(t, env, service).Create(t.Context(), object(t, env.Namespace, "{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {ports: [{port: 80}]}}"), metav1.CreateOptions{})
	require.NoError(t, err)
	other.take(t, name("ADDED", "web"))
	assert.Empty(t, needsIt.all())
	assert.Equal(t, 1, said.count("msg="), "once: %s", said)
	assert.Contains(t, said.String(), "kind=Mould")

	k.webhook.broken.Store(false)
	needsIt.take(t, name("ADDED", "a"))
	require.Eventually(t, func() bool { return said.count("watching again") == 1 }, patience, 10*time.Millisecond)

	k.create("b")
	needsIt.take(t, name("ADDED", "b"))
	k.webhook.broken.Store(true)
	k.create("c")
	stored.take(t, name("ADDED", "b"), name("ADDED", "c"))
	time.Sleep(3 * time.Second)
	assert.Empty(t, needsIt.all(), "what can't be converted now isn't taken for gone")
	k.withoutWebhook()
	needsIt.take(t, name("ADDED", "c"))
	t.Logf("said %d lines: %s", said.count("msg="), said)
	assert.LessOrEqual(t, said.count("level=WARN"), 3, "once for each version each time: %s", said)
	assert.Zero(t, said.count("level=ERROR"))
}
