package main

import (
	goruntime "runtime"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/operkit/operkit/smp"
	"github.com/operkit/operkit/tools/peers/ratio"
)

// batch is how many copies of the document a measurement uses in turn.
const batch = 64

// pairs are the measurements. A strategic row applies both patches, each to the unpatched document. Preparations
// (schemas, decoded maps) are made for both sides and not measured.
func (f *fixture) pairs() []ratio.Pair {
	const patching = "go test -bench 'Peers/smp-shared/ours' -cpuprofile, then what Strategic copies"
	return []ratio.Pair{
		{Name: "smp-shared", Goal: 0.1, Ours: f.shared, Peer: f.peerInPlace, Hint: patching},
		{Name: "smp-shared-allocs", Goal: 0.3, Ours: f.shared, Peer: f.peerInPlace, Allocs: true, Hint: patching},
		{Name: "smp-detached", Goal: 0.45, Ours: f.detached, Peer: f.peerCopying, Hint: "the profile of document.Clone"},
		{Name: "smp-bytes", Goal: 0.5, Ours: f.bytes, Peer: f.peerBytes, Hint: "the profiles of document.Decode and Append"},
		{Name: "smp-diff", Goal: 0.1, Ours: f.diff, Peer: f.peerDiff, Hint: "the profile of Diff: what it compares twice"},
		{Name: "smp-diff-bytes", Goal: 0.5, Ours: f.diffBytes, Peer: f.peerDiffBytes, Hint: "the profile of document.Decode"},
		{Name: "smp-json", Goal: 0.33, Ours: f.json, Peer: f.peerJSON, Hint: "the profile of document.Decode and of the operations"},
	}
}

// shared uses as many copies of the document as the peer, so that the processor's caches favour neither side.
func (f *fixture) shared(b *testing.B) {
	documents := make([]map[string]any, batch)
	for i := range documents {
		documents[i] = runtime.DeepCopyJSON(f.document)
	}
	b.ResetTimer()
	for i := range b.N {
		for _, patch := range f.patches {
			if _, err := smp.Strategic(documents[i%batch], patch, f.schema, smp.Shared()); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// peerInPlace gives the peer, which modifies the document, a new copy for each patch. The copies are made in batches
// while the timer is stopped, and their garbage is collected before it starts again. The patches aren't copied: the
// peer puts parts of them into the document, but doesn't modify them.
func (f *fixture) peerInPlace(b *testing.B) {
	documents := make([]map[string]any, batch*len(f.patches))
	for done := 0; done < b.N; done += batch {
		b.StopTimer()
		for i := range documents {
			documents[i] = runtime.DeepCopyJSON(f.document)
		}
		goruntime.GC()
		b.StartTimer()
		for i := range min(batch, b.N-done) {
			for p, patch := range f.patches {
				document := documents[i*len(f.patches)+p]
				if _, err := strategicpatch.StrategicMergeMapPatchUsingLookupPatchMeta(document, patch, f.peerSchema); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
}

func (f *fixture) detached(b *testing.B) {
	for b.Loop() {
		for _, patch := range f.patches {
			if _, err := smp.Strategic(f.document, patch, f.schema); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// peerCopying copies the document only: ours copies what it takes of the patch too.
func (f *fixture) peerCopying(b *testing.B) {
	for b.Loop() {
		for _, patch := range f.patches {
			document := runtime.DeepCopyJSON(f.document)
			if _, err := strategicpatch.StrategicMergeMapPatchUsingLookupPatchMeta(document, patch, f.peerSchema); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func (f *fixture) bytes(b *testing.B) {
	for b.Loop() {
		for _, patch := range f.patchBytes {
			if _, err := smp.JSONText.Strategic(f.documentBytes, patch, f.schema); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func (f *fixture) peerBytes(b *testing.B) {
	for b.Loop() {
		for _, patch := range f.patchBytes {
			if _, err := strategicpatch.StrategicMergePatch(f.documentBytes, patch, appsv1.Deployment{}); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// diff computes a patch that shares no data with the documents. The peer's patch does share data.
func (f *fixture) diff(b *testing.B) {
	for b.Loop() {
		if _, err := smp.Diff(f.document, f.after, f.schema); err != nil {
			b.Fatal(err)
		}
	}
}

func (f *fixture) peerDiff(b *testing.B) {
	for b.Loop() {
		if _, err := strategicpatch.CreateTwoWayMergeMapPatchUsingLookupPatchMeta(f.document, f.after, f.peerSchema); err != nil {
			b.Fatal(err)
		}
	}
}

func (f *fixture) diffBytes(b *testing.B) {
	for b.Loop() {
		if _, err := smp.JSONText.Diff(f.documentBytes, f.afterBytes, f.schema); err != nil {
			b.Fatal(err)
		}
	}
}

func (f *fixture) peerDiffBytes(b *testing.B) {
	for b.Loop() {
		if _, err := strategicpatch.CreateTwoWayMergePatch(f.documentBytes, f.afterBytes, appsv1.Deployment{}); err != nil {
			b.Fatal(err)
		}
	}
}

func (f *fixture) json(b *testing.B) {
	for b.Loop() {
		if _, err := smp.JSONText.JSON(f.documentBytes, f.operations); err != nil {
			b.Fatal(err)
		}
	}
}

func (f *fixture) peerJSON(b *testing.B) {
	for b.Loop() {
		operations, err := jsonpatch.DecodePatch(f.operations)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := operations.Apply(f.documentBytes); err != nil {
			b.Fatal(err)
		}
	}
}
