package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	v1 "github.com/operkit/operkit/examples/guestbook/api/v1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

var sampleRef = deploy.Ref{Kind: v1.GuestbookKind, Namespace: "default", Name: "hello"}

type fields = map[string]any

// book is a guestbook as the API server has it.
func book(generation int64, message string, status fields) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: fields{
		"apiVersion": "examples.operkit.dev/v1", "kind": "Guestbook",
		"metadata": fields{
			"name": "hello", "namespace": "default", "generation": generation,
			"finalizers": []any{"guestbook.examples.operkit.dev/finalizer"},
		},
		"spec":   fields{"size": int64(2), "message": message},
		"status": status,
	}}
}

// conditions are Ready with this status and reason.
func conditions(status, reason string) []any {
	return []any{fields{"type": "Ready", "status": status, "reason": reason, "message": ""}}
}

func object(kind schema.GroupVersionKind, uid, name, component string, more fields) *unstructured.Unstructured {
	obj := named(deploy.Ref{Kind: kind, Namespace: "default", Name: name})
	obj.SetUID(types.UID(uid))
	obj.SetLabels(map[string]string{instanceLabel: "hello", componentLabel: component})
	for key, value := range more {
		obj.Object[key] = value
	}
	return obj
}

// workload is a Deployment or StatefulSet with so many Pods.
func workload(kind schema.GroupVersionKind, name, component string, wanted, all, ready, updated int64) *unstructured.Unstructured {
	return object(kind, "1", name, component, fields{
		"spec":   fields{"replicas": wanted},
		"status": fields{"replicas": all, "readyReplicas": ready, "updatedReplicas": updated},
	})
}

// story is a rollout, a change and an end, in the events of all that has a part in it.
func story() []deploy.Event {
	begun := book(1, "Welcome!", fields{"conditions": conditions("False", "Initializing"), "componentStatus": fields{
		"allComponents": []any{"redis", "web"}, "unverifiedComponents": []any{"redis"},
		"componentMessages":   []any{fields{"name": "redis", "message": "StatefulSet hello-redis: InProgress (0 of 1 replicas are ready)"}},
		"unstartedComponents": []any{fields{"name": "web", "reason": "waits for redis (its gate is closed)"}},
	}})
	done := fields{"allComponents": []any{"redis", "web"}, "verifiedComponents": []any{"redis", "web"}}
	ready := book(1, "Welcome!", fields{"reconciledGeneration": int64(1), "conditions": conditions("True", "Stable"), "componentStatus": done})
	edited := book(2, "Good evening! Please sign here, it is a long evening.", ready.Object["status"].(fields))
	failed := book(2, "Good evening! Please sign here, it is a long evening.", fields{"conditions": conditions("False", "Errored"), "componentStatus": fields{
		"allComponents": []any{"redis", "web"}, "verifiedComponents": []any{"redis"}, "failedComponents": []any{"web"},
		"componentMessages": []any{fields{"name": "web", "message": "ConfigMap default/hello-web: is not valid"}},
	}})
	leaving := failed.DeepCopy()
	leaving.Object["metadata"].(fields)["deletionTimestamp"] = "2026-01-01T12:00:00Z"
	secret := object(secretKind, "1", "hello-redis", "redis", nil)
	config := object(configMapKind, "1", "hello-web", "web", fields{"data": fields{"message": "Welcome!"}})
	rewritten := object(configMapKind, "1", "hello-web", "web", fields{"data": fields{"message": "Good evening!"}})
	return []deploy.Event{
		{Type: deploy.Added, New: begun},
		{Type: deploy.Added, New: secret},
		{Type: deploy.Added, New: workload(statefulSetKind, "hello-redis", "redis", 1, 0, 0, 0)},
		{Type: deploy.Added, New: object(podKind, "1", "hello-redis-0", "redis", nil)},
		{Type: deploy.Modified, New: workload(statefulSetKind, "hello-redis", "redis", 1, 1, 1, 1)},
		{Type: deploy.Added, New: config},
		{Type: deploy.Added, New: workload(deploymentKind, "hello-web", "web", 2, 2, 2, 2)},
		{Type: deploy.Modified, New: ready},
		{Type: deploy.Modified, New: ready}, // nothing new
		{Type: deploy.Modified, New: edited},
		{Type: deploy.Modified, New: rewritten},
		{Type: deploy.Modified, New: object(configMapKind, "2", "hello-web", "web", nil)},
		{Type: deploy.Modified, New: workload(deploymentKind, "hello-web", "web", 2, 3, 3, 1)},
		{Type: deploy.Modified, New: failed},
		{Type: deploy.Added, New: named(deploy.Ref{Kind: configMapKind, Namespace: "default", Name: "kube-root-ca.crt"})}, // somebody else's
		{Type: deploy.Modified, New: leaving},
		{Type: deploy.Deleted, New: config, Old: config},
		{Type: deploy.Deleted, New: leaving, Old: leaving},
	}
}

// TestStory tells the story on two screens; what a reader sees is in testdata. UPDATE=1
// writes it anew.
func TestStory(t *testing.T) {
	t.Parallel()
	t.Run("plain", func(t *testing.T) {
		t.Parallel()
		var out bytes.Buffer
		tell(t, newNarrator(&out, screen{}, newClock().now), nil)
		golden(t, "plain.txt", out.String())
	})
	t.Run("terminal of 80 columns", func(t *testing.T) {
		t.Parallel()
		terminal := newEmulator(t, 80)
		frames := ""
		n := newNarrator(terminal, screen{live: true, colour: true, width: func() int { return 80 }}, newClock().now)
		tell(t, n, func(number int) {
			if number%6 == 0 {
				frames += fmt.Sprintf("======== after event %d\n%s", number, terminal.text())
			}
		})
		golden(t, "terminal.txt", frames)
		assert.LessOrEqual(t, terminal.widest, 79)
	})
}

// tell has a narrator tell the story; each is called after the event of each number.
func tell(t *testing.T, n *narrator, each func(number int)) {
	t.Helper()
	now := newClock()
	n.now = now.now
	n.step(3, "story", "told for the test")
	b := newBoard(sampleRef)
	for i, event := range story() {
		now.at = now.at.Add(10 * time.Millisecond)
		notes, err := b.observe(event)
		require.NoError(t, err)
		for _, told := range notes {
			n.note(told.colour, told.subject, told.text)
		}
		n.show(b.picture(n.screen, n.room(), "waiting until the story ends, which may take a while, as stories go"))
		if each != nil {
			each(i + 1)
		}
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if os.Getenv("UPDATE") != "" {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}
