package templates_test

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"testing/fstest"
	"text/template"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/templates"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

//go:embed testdata/deploy
var files embed.FS

// parsed once, when the operator starts.
var shopTemplates, errShopTemplates = templates.Parse(files, "testdata/deploy")

// Shop is a controller whose components are folders of templates.
type Shop struct{}

// Kind implements reconcile.Controller.
func (Shop) Kind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Shop"}
}

// Defaults implements reconcile.Defaulter.
func (Shop) Defaults() reconcile.Defaults {
	return reconcile.Defaults{Config: map[string]any{"music": ""}}
}

// Setup implements reconcile.Controller.
func (Shop) Setup(ctx context.Context, s *reconcile.Session) error {
	if errShopTemplates != nil {
		return errShopTemplates
	}
	password, err := s.Generated(ctx, s.ScopedName("store"), "password", func() (string, error) { return "sesame", nil })
	if err != nil {
		return err
	}
	store := s.Use("store", shopTemplates.Component("store", templates.Values(map[string]any{"password": password})))
	s.Use("web", shopTemplates.Component("web")).After(store)
	return nil
}

// rollOut reconciles a resource in a cluster in memory and prints the objects.
func rollOut(c reconcile.Controller, spec string) {
	shop := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte("{apiVersion: example.com/v1, kind: Shop, metadata: {name: tea, namespace: market}, spec: "+spec+"}"), &shop.Object); err != nil {
		fmt.Println(err)
		return
	}
	cluster, err := dryrun.New(dryrun.AnyKind(), dryrun.Objects(shop))
	if err != nil {
		fmt.Println(err)
		return
	}
	manager, err := deploy.NewManager(cluster)
	if err != nil {
		fmt.Println(err)
		return
	}
	reconciler, err := reconcile.New(c, manager, reconcile.DryRun(), reconcile.ObserveComponents(func(c *reconcile.Component, _ deploy.Results) {
		for _, object := range c.Objects() {
			fmt.Println(c.Name(), "has", deploy.RefOf(object), object.Object["data"])
		}
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	key := deploy.Ref{Kind: c.Kind(), Namespace: "market", Name: "tea"}
	if _, err := reconciler.Reconcile(context.Background(), request.Request{Key: key}); err != nil {
		fmt.Println("failed:", err)
	}
}

func Example() {
	rollOut(Shop{}, `{sign: open}`)
	rollOut(Shop{}, `{sign: ""}`)
	// Output:
	// store has Secret tea-store <nil>
	// store has StatefulSet tea-store <nil>
	// web has ConfigMap tea-web map[shop.conf:listen 80
	// # {{ not a template }}
	//  sign:open]
	// store has Secret tea-store <nil>
	// store has StatefulSet tea-store <nil>
	// failed: component web: build: testdata/deploy/web/config.yaml:8:12: spec.sign: say what the sign says
}

func ExampleParse() {
	_, err := templates.Parse(fstest.MapFS{"deploy/web/service.yaml": {Data: []byte("apiVersion: v1\nkind: {{ knd }}\n")}}, "deploy")
	fmt.Println(err)
	var wrong *templates.Error
	fmt.Println(errors.As(err, &wrong), wrong.File, wrong.Line)
	// Output:
	// deploy/web/service.yaml:2: function "knd" not defined
	// true deploy/web/service.yaml 2
}

func ExampleTemplates_Render() {
	objects, err := shopTemplates.Render("store", templates.Data{
		Name: "tea", Spec: map[string]any{"replicas": 3}, Values: map[string]any{"password": "sesame"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := yaml.Marshal(objects[1].Object)
	fmt.Println(string(text), err)
	// Output:
	// apiVersion: apps/v1
	// kind: StatefulSet
	// metadata:
	//   labels:
	//     app.kubernetes.io/name: tea
	//     app.kubernetes.io/version: none
	//   name: tea-store
	// spec:
	//   replicas: 3
	//  <nil>
}

func ExampleTemplates_Components() {
	fmt.Println(shopTemplates.Components())
	// Output: [store web]
}

// setup is a controller made of a function.
type setup func(ctx context.Context, s *reconcile.Session) error

func (setup) Kind() schema.GroupVersionKind { return Shop{}.Kind() }

func (f setup) Setup(ctx context.Context, s *reconcile.Session) error { return f(ctx, s) }

func one(text string) fstest.MapFS {
	return fstest.MapFS{"sign.yaml": {Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: sign}\ndata:\n" + text + "\n")}}
}

func ExampleTemplates_Objects() {
	set, err := templates.Parse(one(`  of: {{ .Name }}`), ".")
	if err != nil {
		fmt.Println(err)
		return
	}
	rollOut(setup(func(ctx context.Context, s *reconcile.Session) error {
		objects, err := set.Objects(ctx, s, ".")
		if err != nil {
			return err
		}
		objects[0].SetName(s.ScopedName(objects[0].GetName()))
		s.Add("sign", objects[0])
		return nil
	}), "{}")
	// Output: sign has ConfigMap tea-sign map[of:tea]
}

// The address is read when it is there: door waits for hall.
func ExampleValuesFrom() {
	set, err := templates.Parse(one(`  address: {{ .Values.address }}`), ".", templates.ValuesFrom(
		func(ctx context.Context, s *reconcile.Session) (any, error) {
			ref := deploy.Ref{Kind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, Namespace: s.Namespace(), Name: "hall"}
			hall, err := s.Get(ctx, ref)
			if err != nil {
				return nil, err
			}
			if hall == nil {
				return nil, request.Precondition("there is no hall yet")
			}
			address, _, err := unstructured.NestedString(hall.Object, "data", "address")
			return map[string]any{"address": address}, err
		}))
	if err != nil {
		fmt.Println(err)
		return
	}
	rollOut(setup(func(_ context.Context, s *reconcile.Session) error {
		hall := s.Add("hall", map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "hall"}, "data": map[string]any{"address": "1.2.3.4"}})
		s.Use("door", set.Component(".")).After(hall)
		return nil
	}), "{}")
	// Output:
	// hall has ConfigMap hall map[address:1.2.3.4]
	// door has ConfigMap sign map[address:1.2.3.4]
}

func show(set *templates.Templates, err error) {
	if err != nil {
		fmt.Println(err)
		return
	}
	objects, err := set.Render(".", templates.Data{Values: map[string]any{"size": 2}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(objects[0].Object["data"])
}

func ExampleFuncs() {
	show(templates.Parse(one(`  sign: {{ twice "tea" }}`), ".", templates.Funcs(template.FuncMap{"twice": func(s string) string { return s + s }})))
	show(templates.Parse(one(``), ".", templates.Funcs(template.FuncMap{"upper": func(s string) string { return s }})))
	// Output:
	// map[sign:teatea]
	// templates: function upper: there is a function of this name already: choose another name
}

func ExampleDelims() {
	show(templates.Parse(one(`  alert: "{{ $labels.instance }} has [[ .Values.size ]]"`), ".", templates.Delims("[[", "]]")))
	// Output: map[alert:{{ $labels.instance }} has 2]
}

func ExampleValues() {
	type values struct {
		Sizes []int `json:"sizes"`
	}
	set, err := templates.Parse(one(`  sizes: {{ .Values.sizes | toJson | quote }}`), ".", templates.Values(values{Sizes: []int{1, 2_000_000}}))
	if err != nil {
		fmt.Println(err)
		return
	}
	rollOut(setup(func(_ context.Context, s *reconcile.Session) error {
		s.Use("sign", set.Component("."))
		return nil
	}), "{}")
	// Output: sign has ConfigMap sign map[sizes:[1,2000000]]
}

func ExampleTemplates_Component() {
	rollOut(setup(func(_ context.Context, s *reconcile.Session) error {
		s.Use("window", shopTemplates.Component("window"))
		return nil
	}), "{}")
	// Output:
	// failed: component window: build: templates: folder testdata/deploy: has no component "window": it has store, web
}
