package main

import (
	"context"
	"fmt"
	"time"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// you is the subject of lines about actions that the demo takes on behalf of the reader.
	you = "you"
	// newMessage is the new message of the sample.
	newMessage = "Good evening! Please sign here."
	// scaledTo is a number of web Pods that differs from the sample's.
	scaledTo = 3
)

// steps returns the steps of the demo.
func (d *demo) steps() []step {
	steps := []step{
		{"control plane", "etcd, API server, controllers, scheduler, kwok", buildDeadline, d.startPlane, nil},
		{"operator", "a process and an RBAC user of its own", buildDeadline, d.startOperator, nil},
		{"create", "apply config/sample.yaml", stepDeadline, d.create, nil},
		{"edit", "another spec.message: what depends on it is rewritten", stepDeadline, d.edit, exactly("configmaps hello-web", "deployments hello-web")},
		{"repair", "the Service of web, deleted by mistake, comes back", stepDeadline, d.repair, exactly("services hello-web")},
		{"scale", "the operator leaves web's size to who scaled it", stepDeadline, d.scale, exactly()},
		{"delete", "the finalizer runs, Kubernetes collects the rest", stepDeadline, d.remove, nil},
	}
	if d.options.keep {
		again := step{"create again", "for you to look around", stepDeadline, d.create, nil}
		return append(steps, again, step{"stop operator", "SIGTERM", stepDeadline, d.stopOperator, exactly()})
	}
	return append(steps,
		step{"stop operator", "SIGTERM", stepDeadline, d.stopOperator, exactly()},
		step{"stop cluster", "nothing stays", stepDeadline, d.stopPlane, nil})
}

func (d *demo) create(ctx context.Context) error {
	return d.apply(ctx, d.sample, "apply "+d.board.ref.String())
}

func (d *demo) edit(ctx context.Context) error {
	edited := d.sample.DeepCopy()
	if err := unstructured.SetNestedField(edited.Object, newMessage, "spec", "message"); err != nil {
		return fmt.Errorf("%s: %w", d.board.ref, err)
	}
	return d.apply(ctx, edited, fmt.Sprintf("apply %s with message %q", d.board.ref, newMessage))
}

// apply applies the guestbook and returns when the operator has rolled it out.
func (d *demo) apply(ctx context.Context, book *unstructured.Unstructured, does string) error {
	d.narrator.note(bold, you, does)
	results, err := d.api.manager.Apply(ctx, []*unstructured.Unstructured{book})
	if err != nil {
		return err
	}
	generation := results[0].Object.GetGeneration()
	return d.until(ctx, func(b *board) string { return b.lacksReady(generation) })
}

func (d *demo) repair(ctx context.Context) error {
	service := d.child(serviceKind, "web")
	book, lost := d.board.book, d.board.children[service]
	if book == nil || lost == nil {
		return fmt.Errorf("%s: isn't there to be deleted", service)
	}
	d.narrator.note(bold, you, "delete "+service.String())
	if _, err := d.api.manager.Delete(ctx, []*unstructured.Unstructured{named(service)}, deploy.EvenForeign()); err != nil {
		return err
	}
	return d.until(ctx, func(b *board) string {
		if now := b.children[service]; now == nil || now.GetUID() == lost.GetUID() {
			return service.String() + " is back"
		}
		return b.lacksReady(book.Generation)
	})
}

// scale sets the size of web as `kubectl scale` and autoscalers do.
func (d *demo) scale(ctx context.Context) error {
	web := d.child(deploymentKind, "web")
	book := d.board.book
	if book == nil {
		return fmt.Errorf("%s: isn't there to be scaled", web)
	}
	d.narrator.note(bold, you, fmt.Sprintf("scale %s to %d Pods; the guestbook says %d", web, scaledTo, book.Spec.Size))
	_, err := d.api.manager.Port().Patch(ctx, web, deploy.PatchRequest{
		Type: types.MergePatchType, Body: fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, scaledTo),
		Subresource: "scale", FieldManager: demoUser,
	})
	if err != nil {
		return err
	}
	wanted := fmt.Sprintf("%d of %d Pods ready", scaledTo, scaledTo)
	return d.until(ctx, func(b *board) string {
		if b.children[web] == nil {
			return web.String() + " is there"
		}
		if is, _ := pods(b.children[web]); is != wanted {
			return web.String() + " has " + wanted
		}
		return b.lacksReady(book.Generation)
	})
}

func (d *demo) remove(ctx context.Context) error {
	d.narrator.note(bold, you, "delete "+d.board.ref.String())
	if _, err := d.api.manager.Delete(ctx, []*unstructured.Unstructured{named(d.board.ref)}, deploy.EvenForeign()); err != nil {
		return err
	}
	began := time.Now()
	err := d.until(ctx, (*board).lacksEnd)
	if err == nil {
		d.narrator.note(green, "cluster", fmt.Sprintf("all objects and Pods are gone, %.2f s after the deletion", time.Since(began).Seconds()))
	}
	return err
}

// child names one of the guestbook's objects.
func (d *demo) child(kind schema.GroupVersionKind, component string) deploy.Ref {
	return deploy.Ref{Kind: kind, Namespace: d.board.ref.Namespace, Name: d.board.ref.Name + "-" + component}
}

// lacksReady returns what is missing until the guestbook is rolled out at this generation, or "" if nothing is.
func (b *board) lacksReady(generation int64) string {
	ready := fmt.Sprintf("%s is ready at generation %d", b.ref, generation)
	if b.book == nil {
		return ready
	}
	if b.book.Generation < generation || verdict(b.book).colour != green {
		return ready + laggards(b)
	}
	return ""
}

func laggards(b *board) string {
	text := ""
	for _, component := range b.components() {
		if state := b.state(component); state.text != "" && state.colour != green {
			text += "; " + component + " " + state.text
		}
	}
	return text
}

// lacksEnd returns what is still left of a deleted guestbook, or "" if nothing is.
func (b *board) lacksEnd() string {
	switch {
	case b.book != nil:
		return b.ref.String() + " is gone"
	case len(b.children) > 0:
		return fmt.Sprintf("its last %d objects and Pods are gone", len(b.children))
	}
	return ""
}
