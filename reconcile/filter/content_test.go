package filter

import "testing"

func TestContent(t *testing.T) {
	t.Parallel()
	const (
		before   = "{kind: A, metadata: {resourceVersion: '1'}, data: {a: b}}"
		hidden1  = "{apiVersion: v1, kind: A, metadata: {resourceVersion: '1'}}"
		hidden2  = "{apiVersion: v1, kind: A, metadata: {resourceVersion: '2', labels: {a: b}}}"
		ready    = "status: {conditions: [{type: Updating, reason: Stable}, {type: Ready, reason: Stable, message: all}]}"
		notReady = "status: {conditions: [{type: Ready, reason: Initializing}]}"
		ports    = "spec: {ports: [{port: 80}, {port: 81}]}"
	)
	runRows(t, []row{
		{"watch 29: Content: a value", Content(), before, "data: {a: c}", true},
		{"watch mistake 11: Content: a field that is new", Content(), before, "{data: {a: b}, binaryData: {}}", true},
		{"watch mistake 11: Content: a field that goes", Content(), "{data: {a: b}, immutable: true}", "data: {a: b}", true},
		{"watch mistake 11: Content: after one went the next event is none", Content(), "data: {a: b}", "data: {a: b}", false},
		{"watch 29: Content: metadata, status, kind and apiVersion are none", Content(), before,
			"{apiVersion: v2, kind: B, metadata: {labels: {a: b}, resourceVersion: '2'}, data: {a: b}, status: {x: y}}", false},
		{"watch 29: Content: no opinion about a creation", Content(), "", before, false},
		{"watch 29: Content: nor about an end", Content(), before, "", false},
		{"Content: a null isn't nothing", Content(), "{data: {}, a: null}", "data: {}", true},
		{"Content: what shows metadata only may have changed", Content(), hidden1, hidden2, true},
		{"Content: not with the same version", Content(), hidden1, hidden1, false},

		{"Field: a value", Field("spec", "replicas"), "spec: {replicas: 1}", "spec: {replicas: 2}", true},
		{"Field: another one", Field("spec", "replicas"), "spec: {replicas: 1}", "spec: {replicas: 1, paused: true}", false},
		{"Field: it comes", Field("spec", "replicas"), "spec: {}", "spec: {replicas: 0}", true},
		{"Field: it goes, and what it was in", Field("spec", "replicas"), "spec: {replicas: 0}", "status: {}", true},
		{"Field: it is null", Field("spec", "replicas"), "spec: {}", "spec: {replicas: null}", true},
		{"Field: an entry of a list", Field("spec", "ports", "1", "port"), ports, "spec: {ports: [{port: 80}, {port: 82}]}", true},
		{"Field: beside that entry", Field("spec", "ports", "0", "port"), ports, "spec: {ports: [{port: 80}, {port: 82}]}", false},
		{"Field: a list that grows", Field("spec", "ports", "2"), ports, "spec: {ports: [{port: 80}, {port: 81}, {port: 82}]}", true},
		{"Field: no entry", Field("spec", "ports", "first"), ports, "spec: {ports: []}", false},
		{"Field: no entry before the first", Field("spec", "ports", "-1"), ports, "spec: {ports: []}", false},
		{"Field: through what has no fields", Field("spec", "a", "b"), "spec: {a: 1}", "spec: {a: 2}", false},
		{"Field: no path is all of it", Field(), before, "{kind: A, metadata: {resourceVersion: '2'}, data: {a: b}}", true},
		{"Field: a creation is no change", Field("data"), "", before, false},
		{"Field: what shows metadata only may have changed", Field("data", "a"), hidden1, hidden2, true},
		{"Field: metadata is shown of all", Field("metadata", "annotations"), hidden1, hidden2, false},

		{"watch 29: ReadyReason: another one", ReadyReason(), notReady, ready, true},
		{"watch 29: ReadyReason: the first", ReadyReason(), "status: {}", ready, true},
		{"watch 29: ReadyReason: the same with another message", ReadyReason(), ready, "status: {conditions: [{type: Ready, reason: Stable}]}", false},
		{"watch 29: ReadyReason: of another condition", ReadyReason(), notReady,
			"status: {conditions: [{type: Updating, reason: X}, {type: Ready, reason: Initializing}]}", false},
		{"watch 29: ReadyReason: no opinion about a creation", ReadyReason(), "", ready, false},
		{"watch 29: ReadyReason: nor about an end", ReadyReason(), ready, "", false},
		{"Condition: another status", Condition("Ready"), "status: {conditions: [{type: Ready, status: 'True', reason: A}]}",
			"status: {conditions: [{type: Ready, status: 'False', reason: A}]}", true},
		{"Condition: another reason", Condition("Ready"), notReady, ready, true},
		{"Condition: it comes", Condition("Updating"), notReady, ready, true},
		{"Condition: it goes", Condition("Updating"), ready, notReady, true},
		{"Condition: another message", Condition("Ready"), ready, "status: {conditions: [{type: Ready, reason: Stable, message: most}]}", false},
		{"Condition: of another condition", Condition("Degraded"), notReady, ready, false},
		{"Condition: no opinion about a creation", Condition("Ready"), "", ready, false},
		{"Condition: what shows metadata only may have changed", Condition("Ready"), hidden1, hidden2, true},
		{"ReadyReason: conditions that are none", ReadyReason(), "status: {conditions: [1, {type: 2}, {type: Ready, reason: 3}]}", "status: {conditions: {}}", false},
		{"ReadyReason: what shows metadata only may have changed", ReadyReason(), hidden1, hidden2, true},
	})
}
