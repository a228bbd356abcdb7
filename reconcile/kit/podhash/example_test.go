package podhash_test

import (
	"context"
	"fmt"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/kit/podhash"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A controller whose Pods are restarted when a password changes. An operator passes the option to Control.
func ExampleComponents() {
	tea := reconciletest.Resource(shops, "tea", nil)
	tea.SetNamespace("default")
	cluster, err := dryrun.New(dryrun.AnyKind(), dryrun.Objects(tea))
	if err != nil {
		fmt.Println(err)
		return
	}
	manager, err := deploy.NewManager(cluster)
	if err != nil {
		fmt.Println(err)
		return
	}
	password := "sesame"
	controller := reconciletest.Controlling(shops, func(_ context.Context, s *reconcile.Session) error {
		s.Add("web", workload("own"), fields{
			"apiVersion": "v1", "kind": "Secret", "metadata": fields{"name": "own"}, "stringData": fields{"password": password},
		})
		return nil
	})
	reconciler, err := reconcile.New(controller, manager, podhash.Components())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, password = range []string{"sesame", "mellon"} {
		if _, err := reconciler.Reconcile(context.Background(), request.Request{Key: deploy.RefOf(tea)}); err != nil {
			fmt.Println(err)
			return
		}
		for _, obj := range cluster.Objects() {
			if obj.GetKind() == "Deployment" {
				fmt.Println(templateAnnotation(obj, "operkit.dev/dependency-hash")[:8])
			}
		}
	}
	// Output:
	// dbaeef1c
	// 143c6922
}

func ExampleReferences() {
	for _, ref := range podhash.References(deployment(fields{
		"volumes": list{fields{"configMap": fields{"name": "colours", "optional": true}}},
		"containers": list{fields{"env": list{
			fields{"name": "PASSWORD", "valueFrom": fields{"secretKeyRef": fields{"name": "db", "key": "password"}}},
		}}},
	})) {
		fmt.Println(ref, ref.Keys, ref.Optional)
	}
	// Output:
	// ConfigMap/colours [] true
	// Secret/db [password] false
}

// A style without components calls Annotate for each object before it applies it.
func ExampleHasher_Annotate() {
	hasher := podhash.New(podhash.Skip(func(_ *unstructured.Unstructured, ref podhash.Reference) bool { return ref.Name == "licence" }))
	annotated, missing, err := hasher.Annotate(context.Background(), mounting("db", "licence", "token"), "default",
		reading(secret("db", map[string]string{"password": "sesame"})))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(templateAnnotation(annotated, "operkit.dev/dependency-hash")[:8], missing)
	// Output: b72e64b3 [Secret/token]
}

// Programs that read their certificates again aren't restarted by a new certificate.
func ExampleReloads() {
	hasher := podhash.New(podhash.Reloads(nil), podhash.Domain("example.dev"))
	pair := secret("web-tls", map[string]string{"tls.crt": "a certificate", "tls.key": "a key"})
	pair.Object["type"] = "kubernetes.io/tls"
	annotated, _, err := hasher.Annotate(context.Background(), mounting("web-tls"), "default", reading(pair))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%q", templateAnnotation(annotated, "example.dev/dependency-hash"))
	// Output: ""
}

// An operator that moves over from oper8 keeps the hash of the Pods that run.
func ExampleOper8() {
	annotated, _, err := podhash.New(podhash.Oper8()).Annotate(context.Background(), mounting("db"), "default",
		reading(secret("db", map[string]string{"password": "sesame"})))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(templateAnnotation(annotated, "oper8.org/dependency-hash"))
	// Output: 8ffb36f88d2690c22d3d1e0029b296a69e1ed468
}
