package connection_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/kit/connection"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// store controls resources with a Pod that uses the database in the Secret db.
type store struct{}

func (store) Kind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Store"}
}

func (store) Setup(ctx context.Context, s *reconcile.Session) error {
	binding, err := connection.Read(ctx, s, connection.Source{
		Namespace: s.Namespace(), Secret: "db", Require: []connection.Part{connection.Host, connection.Password},
	})
	if err != nil {
		return err
	}
	s.Add("web", &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web", Env: binding.Env("DB_")}}},
	})
	s.SetStatus("address", binding.Address())
	return nil
}

func secretWith(content map[string]string) *unstructured.Unstructured {
	data := map[string]any{}
	for key, value := range content {
		data[key] = base64.StdEncoding.EncodeToString([]byte(value))
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"namespace": "shop", "name": "db"}, "data": data,
	}}
}

func TestSession(t *testing.T) {
	t.Parallel()
	t.Run("connection 15: a session waits for the Secret and follows it, and nothing of it is in log, status and events", func(t *testing.T) {
		t.Parallel()
		var log, events strings.Builder
		logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug - 8}))
		sink := event.Func(func(e event.Event) { fmt.Fprintf(&events, "%+v\n", e) })
		h := reconciletest.New(t, store{}, reconciletest.With(reconcile.Logger(logger)), reconciletest.Namespace("shop"), reconciletest.Events(sink))
		resource := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Store", "metadata": map[string]any{"namespace": "shop", "name": "tea"}}}
		h.Apply(resource)
		h.RunUntilSettled()
		assert.Contains(t, fmt.Sprint(h.Get("Store tea").Object["status"]), "Secret shop/db isn't there yet")

		h.Apply(secretWith(map[string]string{"host": "db", "port": hush, "password": hush}))
		h.RunUntilSettled()
		assert.Contains(t, fmt.Sprint(h.Get("Store tea").Object["status"]), "Secret shop/db: key port: it has to be a number")

		h.Apply(secretWith(map[string]string{"host": "db", "port": "5432", "password": hush}))
		h.RunUntilSettled()
		assert.Contains(t, fmt.Sprint(h.Get("Store tea").Object["status"]), "address:db:5432")
		h.RunUntilSettled()
		h.Writes(0)

		for _, object := range h.Memory().Objects() {
			if object.GetKind() != "Secret" {
				for _, text := range []string{hush, base64.StdEncoding.EncodeToString([]byte(hush))} {
					assert.NotContains(t, fmt.Sprint(object.Object), text, object.GetKind())
				}
			}
		}
		for name, text := range map[string]string{"log": log.String(), "events": events.String()} {
			assert.Contains(t, text, "it has to be a number", name)
			assert.NotContains(t, text, hush, name)
			assert.NotContains(t, text, base64.StdEncoding.EncodeToString([]byte(hush)), name)
		}
	})
}
