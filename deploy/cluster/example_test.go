package cluster_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// answer is an API server that can serve one apply.
func answer(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.URL.Path == "/api/v1":
		_, _ = io.WriteString(w, `{"resources":[{"name":"configmaps","namespaced":true,"kind":"ConfigMap"}]}`)
	case r.Method == http.MethodPatch:
		w.WriteHeader(http.StatusCreated)
		_, _ = io.Copy(w, r.Body)
	default:
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`)
	}
}

func ExampleNew() {
	server := httptest.NewServer(http.HandlerFunc(answer))
	defer server.Close()
	config := &rest.Config{Host: server.URL} // or cluster.Config("", "")

	ctx, cancel := context.WithCancel(context.Background())
	c, err := cluster.New(ctx, config, cluster.Namespaces("shop"), cluster.Logger(slog.Default()))
	if err != nil {
		log.Fatal(err)
	}
	results, err := must(deploy.NewManager(c)).Apply(ctx, []*unstructured.Unstructured{{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "web", "namespace": "shop"},
	}}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(results[0].Ref, results[0].Action)
	cancel()
	c.Wait() // for watches, of which there are none here
	// Output: ConfigMap shop/web created
}

func ExampleObserver() {
	server := httptest.NewServer(http.HandlerFunc(answer))
	defer server.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c, err := cluster.New(ctx, &rest.Config{Host: server.URL})
	if err != nil {
		log.Fatal(err)
	}
	// Somebody else, such as a webhook, has reported a change that the View may not show yet.
	ref := deploy.Ref{Kind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, Namespace: "shop", Name: "web"}
	if observer, ok := c.View().(cluster.Observer); ok {
		if err := observer.Observed(ctx, ref, "1017"); err != nil {
			log.Fatal(err)
		}
	}
	obj, err := c.View().Get(ctx, ref)
	fmt.Println(obj == nil, err)
	// Output: true <nil>
}

func ExampleConfig() {
	dir, err := os.MkdirTemp("", "kubeconfig")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	file := filepath.Join(dir, "config")
	if err := os.WriteFile(file, []byte(kubeconfig), 0o600); err != nil {
		log.Fatal(err)
	}
	config, err := cluster.Config(file, "two")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(config.Host, cluster.DefaultNamespace(file, "two"))
	// Output: https://two.example.invalid default
}

func ExampleNamespaces() {
	// Patterns also match new namespaces: team-c is watched as soon as it is created.
	_, err := cluster.New(context.Background(), &rest.Config{Host: "https://api.example.invalid"}, cluster.Namespaces("team-*", "!team-b"))
	fmt.Println(err)
	_, err = cluster.New(context.Background(), &rest.Config{Host: "https://api.example.invalid"}, cluster.Namespaces("team-["))
	fmt.Println(err)
	// Output:
	// <nil>
	// cluster https://api.example.invalid: namespace "team-[": neither a name nor a pattern: use something like team-*
}

func ExampleNamespacePattern() {
	fmt.Println(cluster.NamespacePattern("shop"))
	fmt.Println(cluster.NamespacePattern("team-*"))
	_, err := cluster.NamespacePattern("Team-*")
	fmt.Println(err != nil)
	// Output:
	// false <nil>
	// true <nil>
	// true
}

func ExampleNamespaceSelector() {
	tier, err := labels.Parse("tier in (prod, test)")
	if err != nil {
		log.Fatal(err)
	}
	_, err = cluster.New(context.Background(), &rest.Config{Host: "https://api.example.invalid"}, cluster.NamespaceSelector(tier))
	fmt.Println(err)
	// Output: <nil>
}

func ExampleSelected() {
	server := httptest.NewServer(http.HandlerFunc(answer))
	defer server.Close()
	red := labels.SelectorFromSet(labels.Set{"color": "red"})
	c, err := cluster.New(context.Background(), &rest.Config{Host: server.URL}, cluster.Selected(schema.GroupKind{Kind: "ConfigMap"}, red, nil))
	if err != nil {
		log.Fatal(err)
	}
	_, err = c.Port().Apply(context.Background(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "web", "namespace": "shop"},
	}}, deploy.ApplyOptions{FieldManager: "me"})
	fmt.Println(err)
	// Output: ConfigMap shop/web: invalid manifest: only objects of its kind that match color=red are watched: add the label or field, or use a Cluster without Selected
}

func ExampleMetadataOnly() {
	_, err := cluster.New(context.Background(), &rest.Config{Host: "https://api.example.invalid"}, cluster.MetadataOnly(schema.GroupKind{Kind: "Secret"}))
	fmt.Println(err)
	// Output: <nil>
}
