package versions_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/source"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	houses      = schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "House"}
	configMaps  = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	deployments = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
)

// House is the controller of all versions: what one renders depends on which it is, and on what the resource asks for.
type House struct{ version string }

func (House) Kind() schema.GroupVersionKind { return houses }

func (h House) Setup(ctx context.Context, s *reconcile.Session) error {
	spec, _ := s.Resource().Object["spec"].(map[string]any)
	base := s.Add("base", configMap(s.ScopedName("base"), map[string]any{"version": h.version, "name": s.Name()}))
	if spec["fail"] == "setup" {
		return request.Configuration("spec.fail: %q", spec["fail"])
	}
	if spec["panic"] == true {
		panic("the roof falls in")
	}
	if h.version == "1.0.0" {
		s.Add("cellar", configMap(s.ScopedName("cellar"), map[string]any{"wine": "red"}))
	} else {
		s.Add("attic", configMap(s.ScopedName("attic"), map[string]any{"dust": "much"}))
	}
	if spec["workload"] == true {
		web := s.Add("web", workload(s.ScopedName("web"))).After(base)
		s.Use("door", door{}).After(web, reconcile.Ready)
	}
	if lock, ok := spec["lock"].(string); ok {
		locked := s.Add("safe", configMap(s.ScopedName("safe"), map[string]any{"gold": "1 kg"}))
		locked.After(base, reconcile.Deployed, func(ctx context.Context, base *reconcile.Component) (bool, error) {
			key, err := s.Get(ctx, deploy.Ref{Kind: configMaps, Namespace: s.Namespace(), Name: lock})
			return key != nil && base.Name() == "base", err
		})
	}
	if spec["judged"] == true {
		c := s.Add("judged")
		c.Add("sign", configMap(s.ScopedName("sign"), map[string]any{}), reconcile.ReadyWhen(func(_ context.Context, live *unstructured.Unstructured) error {
			if _, ok, _ := unstructured.NestedString(live.Object, "data", "blessed"); !ok {
				return request.Precondition("it isn't blessed")
			}
			return nil
		}))
	}
	if _, ok := spec["gone"]; ok {
		s.Add("garage", configMap(s.ScopedName("garage"), map[string]any{})).Disable()
	}
	switch spec["deploys"] {
	case true:
		s.Use("own", deployer{})
	}
	if spec["say"] == true {
		s.Logger().Info("hello from the child", "room", "kitchen")
		s.Event(event.Normal, "Said", "hello from %s", h.version)
	}
	return nil
}

func (h House) AfterVerify(_ context.Context, s *reconcile.Session, o reconcile.Outcome) error {
	spec, _ := s.Resource().Object["spec"].(map[string]any)
	if spec["fail"] == "after" {
		return fmt.Errorf("%d components are verified, and yet: no", len(o.Components))
	}
	return nil
}

func (h House) Requeue(_ context.Context, s *reconcile.Session, _ reconcile.Outcome) (time.Duration, error) {
	return 42 * time.Second, nil
}

func (h House) Upgrade(_ context.Context, s *reconcile.Session, from, to string) error {
	spec, _ := s.Resource().Object["spec"].(map[string]any)
	if spec["noJump"] == true {
		return request.Configuration("from %s no way leads to %s: go by 1.0.5", from, to)
	}
	return nil
}

func (h House) Finalize(ctx context.Context, s *reconcile.Session) error {
	return s.Remove(ctx, configMap(s.ScopedName("base"), nil))
}

func (h House) Sources() source.Sources {
	return source.Sources{
		Owned: []source.Owned{{Kind: configMaps, When: func(e deploy.Event) bool { return e.New.GetLabels()["ignored"] == "" }}},
		Mapped: []source.Mapped{{
			Kind: schema.GroupVersionKind{Version: "v1", Kind: "Secret"},
			Keys: func(e deploy.Event) []deploy.Ref {
				if name, ok := e.New.GetLabels()["house"]; ok {
					return []deploy.Ref{{Namespace: e.New.GetNamespace(), Name: name}}
				}
				return nil
			},
		}},
	}
}

// door is made of what is deployed before it.
type door struct{}

func (door) Build(ctx context.Context, s *reconcile.Session, c *reconcile.Component) error {
	web, err := s.Get(ctx, deploy.Ref{Kind: deployments, Namespace: s.Namespace(), Name: s.ScopedName("web")})
	if err != nil {
		return err
	}
	if web == nil {
		return errors.New("there is no web although this waits for it")
	}
	c.Add("", configMap(s.ScopedName("door"), map[string]any{"leads-to": web.GetName()}))
	return nil
}

func (door) Revise(_ context.Context, _ *reconcile.Session, object string, content *unstructured.Unstructured) error {
	return unstructured.SetNestedField(content.Object, "of "+object, "data", "revised")
}

// deployer does more than render.
type deployer struct{ door }

func (deployer) Build(context.Context, *reconcile.Session, *reconcile.Component) error { return nil }

func (deployer) Deploy(context.Context, *reconcile.Session, *reconcile.Component) error { return nil }

func configMap(name string, data map[string]any) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name}}}
	if data != nil {
		obj.Object["data"] = data
	}
	return obj
}

func workload(name string) *unstructured.Unstructured {
	labels := map[string]any{"app": name}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": name},
		"spec": map[string]any{
			"replicas": int64(1), "selector": map[string]any{"matchLabels": labels},
			"template": map[string]any{
				"metadata": map[string]any{"labels": labels},
				"spec":     map[string]any{"containers": []any{map[string]any{"name": "web", "image": "web:" + strings.ToLower(name)}}},
			},
		},
	}}
}
