package usercases

// The operator of the cases, as they come: a resource of the kind Box says itself which objects it consists of.

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/operator"
	"github.com/operkit/operkit/reconcile"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

type box struct {
	kind string
}

func (b box) Kind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "try.example.com", Version: "v1", Kind: b.kind}
}

type component struct {
	Name     string           `json:"name"`
	After    []string         `json:"after"`
	NoReady  bool             `json:"noReady"`
	Disabled bool             `json:"disabled"`
	YAML     string           `json:"yaml"`
	Objects  []map[string]any `json:"objects"`
	By       string           `json:"by"`
	Raw      string           `json:"raw"`
}

func (b box) Setup(_ context.Context, s *reconcile.Session) error {
	var cr struct {
		Spec struct {
			Components []component `json:"components"`
			Fail       string      `json:"fail"`
		} `json:"spec"`
	}
	if err := s.Into(&cr); err != nil {
		return err
	}
	if cr.Spec.Fail != "" {
		return reconcile.Precondition("%s", cr.Spec.Fail)
	}
	made := map[string]*reconcile.Component{}
	for _, c := range cr.Spec.Components {
		var objects []any
		for _, o := range c.Objects {
			if f := os.Getenv("FLAVOR"); f != "" {
				o["data"] = map[string]any{"flavor": f}
			}
			objects = append(objects, o)
		}
		if c.YAML != "" {
			objects = append(objects, reconcile.YAML(c.YAML))
		}
		if c.Raw != "" { // floats as encoding/json makes them
			var o map[string]any
			if err := json.Unmarshal([]byte(c.Raw), &o); err != nil {
				return err
			}
			objects = append(objects, o)
		}
		var comp *reconcile.Component
		if c.By == "" {
			comp = s.Add(c.Name, objects...)
		} else {
			comp = s.Add(c.Name)
			for i, o := range objects {
				comp.Add(fmt.Sprintf("o%d", i), o, reconcile.By(strategy(c.By)))
			}
		}
		for _, a := range c.After {
			if c.NoReady {
				comp.After(made[a])
			} else {
				comp.After(made[a], reconcile.Ready)
			}
		}
		if c.Disabled {
			comp.Disable()
		}
		made[c.Name] = comp
	}
	return nil
}

func strategy(name string) deploy.Strategy { return deploy.Strategy(name) }

type finalBox struct{ box }

func (finalBox) Finalize(context.Context, *reconcile.Session) error { return nil }

func main() {
	op := operator.New("box-operator")
	op.Control(box{kind: "Box"})
	if os.Getenv("CRATE") != "" {
		op.Control(finalBox{box{kind: "Crate"}}, reconcile.OwnAnywhere())
	}
	if os.Getenv("CASE") != "" { // cluster-scoped
		op.Control(box{kind: "Casing"})
	}
	op.Main()
}
