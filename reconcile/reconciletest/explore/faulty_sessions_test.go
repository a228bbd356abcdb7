package explore

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/operkit/operkit/reconcile"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// stand is a controller of sessions whose Setup is a function. It may keep things in memory.
type stand struct {
	sound bool
	kept  map[string]string
	setup func(ctx context.Context, c *stand, s *reconcile.Session) error
}

// Kind implements reconcile.Controller.
func (*stand) Kind() schema.GroupVersionKind { return shopKind }

// Setup implements reconcile.Controller.
func (c *stand) Setup(ctx context.Context, s *reconcile.Session) error { return c.setup(ctx, c, s) }

// sessions returns an operator with sessions.
func sessions(setup func(ctx context.Context, c *stand, s *reconcile.Session) error) operator {
	return operatorOf(func(sound bool) *stand { return &stand{sound, map[string]string{}, setup} }, startSessions, nil)
}

// titled returns a child with the title.
func titled(s *reconcile.Session, title string) map[string]any {
	return object("{apiVersion: v1, kind: ConfigMap, metadata: {name: %s-door}, data: {title: %q}}", s.Name(), title)
}

func titleOf(s *reconcile.Session) string {
	title, _, _ := unstructured.NestedString(s.Resource().Object, "spec", "title")
	return title
}

// renaming names its child by the hour, as beginners do for what should be unique.
func renaming(_ context.Context, c *stand, s *reconcile.Session) error {
	hour := time.Now().Unix() / 3600
	if c.sound {
		hour = 0
	}
	s.Add("door", object("{apiVersion: v1, kind: ConfigMap, metadata: {name: door-%d}}", hour))
	return nil
}

// stamping writes the time into its child.
func stamping(_ context.Context, c *stand, s *reconcile.Session) error {
	at := time.Now().Format(time.StampNano)
	if c.sound {
		at = titleOf(s)
	}
	s.Add("door", titled(s, at))
	return nil
}

// remembering keeps the first size in memory, and renders it from then on.
func remembering(_ context.Context, c *stand, s *reconcile.Session) error {
	if c.kept[s.Name()] == "" || c.sound {
		c.kept[s.Name()] = fmt.Sprint(sizeOf(s.Resource()))
	}
	s.Add("door", titled(s, c.kept[s.Name()]))
	return nil
}

// rotating makes a new password whenever it is called, so that users find another one every few minutes:
// https://github.com/strimzi/strimzi-kafka-operator/issues/8552
func rotating(ctx context.Context, c *stand, s *reconcile.Session) error {
	generate := func() (string, error) { return rand.Text(), nil }
	password, err := generate()
	if c.sound {
		password, err = s.Generated(ctx, "key", "password", generate)
	}
	s.Add("key", object("{apiVersion: v1, kind: Secret, metadata: {name: key}, stringData: {password: %q}}", password))
	return err
}

// shuffling joins settings in the order of a map that differs in each process, and thereby rolls its workload after
// each restart: https://github.com/strimzi/strimzi-kafka-operator/pull/6705. The minute when the process started stands
// for the order.
func shuffling(_ context.Context, c *stand, s *reconcile.Session) error {
	if c.kept["first"] == "" {
		c.kept["first"] = []string{"goals", "hours"}[time.Now().Minute()%2]
	}
	settings := []string{c.kept["first"]}
	for _, name := range []string{"goals", "hours"} {
		if name != c.kept["first"] {
			settings = append(settings, name)
		}
	}
	if c.sound {
		slices.Sort(settings)
	}
	s.Add("door", titled(s, strings.Join(settings, ",")))
	return nil
}

// flipping reports another phase each time, as beginners do who toggle what they find.
func flipping(_ context.Context, c *stand, s *reconcile.Session) error {
	s.Add("door", titled(s, titleOf(s)))
	phase := "Opening"
	if status, _ := s.Resource().Object["status"].(map[string]any); !c.sound && status["phase"] == phase {
		phase = "Open"
	}
	s.SetStatus("phase", phase)
	return nil
}
