package audit_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/tools/envtest/audit"
)

// Lines as an API server of version 1.36 writes them at level Metadata.
const (
	impersonated = `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"9d4b","stage":"ResponseComplete","requestURI":"/apis/apps/v1/namespaces/ns/deployments/web/status?dryRun=All\u0026fieldManager=op","verb":"patch","user":{"username":"admin","groups":["system:masters","system:authenticated"]},"impersonatedUser":{"username":"ns:op","groups":["system:authenticated"]},"sourceIPs":["127.0.0.1"],"userAgent":"op/v0","objectRef":{"resource":"deployments","namespace":"ns","name":"web","apiGroup":"apps","apiVersion":"v1","subresource":"status"},"responseStatus":{"metadata":{},"code":200},"requestReceivedTimestamp":"2026-11-21T08:06:48.696044Z","stageTimestamp":"2026-11-21T08:06:48.698044Z","annotations":{"authorization.k8s.io/decision":"allow"}}`
	discovery    = `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"77","stage":"ResponseComplete","requestURI":"/apis","verb":"get","user":{"username":"admin"},"responseStatus":{"metadata":{},"code":200},"requestReceivedTimestamp":"2026-11-21T08:06:48.696044Z","stageTimestamp":"2026-11-21T08:06:48.698044Z"}`
)

func TestParse(t *testing.T) {
	t.Parallel()
	received := time.Date(2026, 11, 21, 8, 6, 48, 696044000, time.UTC)
	tests := map[string]struct {
		reason, line string
		want         audit.Event
	}{
		"impersonated": {"the request counts for whom it was made, not for who made it", impersonated, audit.Event{
			Stage: audit.ResponseComplete,
			Call: audit.Call{ID: "9d4b", Received: received, User: "ns:op", UserAgent: "op/v0", Verb: "patch",
				Group: "apps", Version: "v1", Resource: "deployments", Subresource: "status", Namespace: "ns", Name: "web",
				Path: "/apis/apps/v1/namespaces/ns/deployments/web/status", Code: 200, DryRun: true},
		}},
		"no resource": {"discovery has a path only", discovery, audit.Event{
			Stage: audit.ResponseComplete,
			Call:  audit.Call{ID: "77", Received: received, User: "admin", Verb: "get", Path: "/apis", Code: 200},
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := audit.Parse([]byte(test.line))
			require.NoError(t, err)
			assert.Equal(t, test.want, got, test.reason)
		})
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ line, want string }{
		"no JSON":        {`{"kind":"Event"`, "audit event: unexpected end of JSON input"},
		"another kind":   {`{"kind":"Status"}`, `audit event: the kind is "Status", not Event`},
		"no request URI": {`{"kind":"Event","auditID":"7"}`, `audit event 7: request URI: parse "": empty url`},
		"a bad time":     {`{"kind":"Event","requestReceivedTimestamp":"noon"}`, "audit event: parsing time"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := audit.Parse([]byte(test.line))
			assert.ErrorContains(t, err, test.want)
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(impersonated))
	f.Add([]byte(discovery))
	f.Add([]byte(`{"kind":"Event","requestURI":"/api?dryRun=","objectRef":null,"impersonatedUser":null}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		event, err := audit.Parse(line)
		if err != nil {
			assert.Zero(t, event, "an error and an event")
			return
		}
		calls := audit.Calls{event.Call}
		classes := len(calls.Writes()) + len(calls.Reads()) + len(calls.Watches()) + len(calls.DryRuns())
		assert.LessOrEqual(t, classes, 1, "one call is one thing: %v", calls)
		assert.Len(t, calls.By(event.User), 1)
		assert.Len(t, calls.In(event.Namespace), 1)
		assert.Len(t, calls.Of(event.Target()), 1, "%q", event.Target())
		assert.NotEmpty(t, calls.String())
	})
}
