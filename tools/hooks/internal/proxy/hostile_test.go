package proxy_test

import (
	"bufio"
	"compress/gzip"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// raw sends bytes over a connection of its own, and returns the code of the response and its body. write may send more.
func (r *run) raw(t *testing.T, text string, write func(to net.Conn)) (int, string) {
	t.Helper()
	connection, err := (&tls.Dialer{Config: r.tls}).DialContext(t.Context(), "tcp", strings.TrimPrefix(r.address, "https://"))
	require.NoError(t, err)
	defer func() { _ = connection.Close() }()
	require.NoError(t, connection.SetDeadline(time.Now().Add(time.Minute)))
	_, err = io.WriteString(connection, strings.ReplaceAll(strings.ReplaceAll(text, "TOKEN", r.token), "\n", "\r\n"))
	require.NoError(t, err)
	if write != nil {
		write(connection)
	}
	response, err := http.ReadResponse(bufio.NewReader(connection), nil)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	content, _ := io.ReadAll(response.Body)
	return response.StatusCode, string(content)
}

// Requests that no ordinary client sends.
func TestHostileRequests(t *testing.T) {
	t.Parallel()
	api := startFake(t, nil)
	p, logs := startProxy(t, api.url)
	client := use(t, issue(t, p, configMaps))
	const (
		headers = " HTTP/1.1\nHost: a\nAuthorization: Bearer TOKEN\n"
		in      = "/api/v1/namespaces/a/configmaps"
	)
	for _, row := range []struct {
		reason, text string
		code         int
	}{
		{"a parent folder", "GET /api/v1/namespaces/a/../b" + headers + "\n", 400},
		{"encoded", "GET /api/v1/namespaces/a/%2e%2e/b" + headers + "\n", 400},
		{"half", "GET /api/v1/namespaces/a/.%2E/b" + headers + "\n", 400},
		{"the same folder", "GET /api/./v1" + headers + "\n", 400},
		{"two slashes", "GET /api/v1//namespaces" + headers + "\n", 400},
		{"at the begin", "GET //api/v1/namespaces" + headers + "\n", 400},
		{"at the end", "GET /api/v1/namespaces//" + headers + "\n", 400},
		{"an encoded slash", "GET /api/v1/namespaces/a%2Fpods/b" + headers + "\n", 400},
		{"encoded twice", "GET /api/v1/namespaces/a%252Fpods/b" + headers + "\n", 400},
		{"a backslash", "GET /api/v1/namespaces/a%5Cpods/b" + headers + "\n", 400},
		{"a zero", "GET /api/v1/namespaces/a%00" + headers + "\n", 400},
		{"a line end", "GET /api/v1/namespaces/a%0d%0aX:b" + headers + "\n", 400},
		{"half an escape", "GET /api/v1/namespaces/a%2" + headers + "\n", 400},
		{"a query that readers differ about", "GET /api/v1/namespaces?a=b;watch=true" + headers + "\n", 400},
		{"the address of somebody else", "GET http://169.254.169.254/latest" + headers + "\n", 403},
		{"a tunnel", "CONNECT 169.254.169.254:80" + headers + "\n", 403},
		{"an asterisk", "OPTIONS *" + headers + "\n", 400},
		{"a method that doesn't exist", "BREW " + in + headers + "\n", 405},
		{"the preface of HTTP/2", "PRI * HTTP/2.0\n\nSM\n\n", 401},
		{"another protocol", "HELO a\n\n", 400},
		{"HTTP/3", "GET " + in + " HTTP/3.0\nHost: a\n\n", 505},
		{"two lengths", "POST " + in + headers + "Content-Length: 2\nContent-Length: 3\n\n{} ", 400},
		{"a negative length", "POST " + in + headers + "Content-Length: -2\n\n{}", 400},
		{"an unknown encoding", "POST " + in + headers + "Transfer-Encoding: gzip\n\n{}", 501},
		{"broken chunks", "POST " + in + headers + "Transfer-Encoding: chunked\n\nzz\n{}\n", 400},
		{"a body that ends early, with its length", "GET " + in + headers + "Content-Length: 2\n\n{}", 400},
		{"chunks for a read", "GET " + in + headers + "Transfer-Encoding: chunked\n\n0\n\n", 400},
		{"huge headers", "GET " + in + headers + "A: " + strings.Repeat("a", 1<<17) + "\n\n", 431},
		{"many headers", "GET " + in + headers + strings.Repeat("A: b\n", 1<<15) + "\n", 431},
		{"a huge address", "GET /" + strings.Repeat("a", 1<<17) + headers + "\n", 431},
	} {
		t.Run("hooks 49: "+row.reason, func(t *testing.T) {
			code, body := client.raw(t, row.text, nil)
			assert.Equal(t, row.code, code, body)
			if strings.HasPrefix(body, "{") {
				message(t, body, code)
			}
		})
	}
	t.Run("hooks 49: chunks without end", func(t *testing.T) {
		code, body := client.raw(t, "POST "+in+headers+"Transfer-Encoding: chunked\n\n", func(to net.Conn) {
			chunk := fmt.Sprintf("%x\r\n%s\r\n", 1<<16, strings.Repeat(" ", 1<<16))
			for range 64 {
				if _, err := io.WriteString(to, chunk); err != nil {
					return
				}
			}
		})
		assert.Equal(t, http.StatusRequestEntityTooLarge, code)
		assert.Equal(t, "hooks proxy: the body is larger than 3145728 bytes", message(t, body, code))
	})
	t.Run("hooks 49: HTTP/2 isn't spoken", func(t *testing.T) {
		config := client.tls.Clone()
		config.NextProtos = []string{"h2", "http/1.1"}
		connection, err := (&tls.Dialer{Config: config}).DialContext(t.Context(), "tcp", strings.TrimPrefix(client.address, "https://"))
		require.NoError(t, err)
		assert.Equal(t, "http/1.1", connection.(*tls.Conn).ConnectionState().NegotiatedProtocol)
		_ = connection.Close()
	})
	t.Run("hooks 49: nor HTTP without TLS", func(t *testing.T) {
		request := client.request(t, "GET", in, "")
		request.URL.Scheme = "http"
		response, err := client.client.Do(request)
		require.NoError(t, err)
		_ = response.Body.Close()
		assert.Equal(t, http.StatusBadRequest, response.StatusCode)
	})
	assert.Empty(t, api.requests(), "none of them has reached the API server")
	assert.NotContains(t, logs.String(), "panic")
	code, _ := client.do(t, "GET", in, "")
	assert.Equal(t, http.StatusOK, code, "and others are served")
}

// Bodies that aren't what they should be.
func TestBodies(t *testing.T) {
	t.Parallel()
	api := startFake(t, existing)
	p, _ := startProxy(t, api.url)
	client := use(t, issue(t, p, configMaps, secrets))
	const in = "/api/v1/namespaces/a/configmaps"
	var bomb strings.Builder
	bomb.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 10; i++ {
		fmt.Fprintf(&bomb, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10), ", "))
	}
	for _, row := range []struct {
		reason, method, kind, body string
		code                       int
		want                       string
	}{
		{"too large", "POST", "", `{"a":"` + strings.Repeat("a", 3<<20) + `"}`, 413, "the body is larger than 3145728 bytes"},
		{"protobuf without its prefix", "POST", "application/vnd.kubernetes.protobuf", "\x0a\x00", 400, `body: it isn't an object in protobuf: it doesn't begin with "k8s\x00"`},
		{"no protobuf", "POST", "application/vnd.kubernetes.protobuf", "k8s\x00\xff", 400, "body: it isn't an object in protobuf: envelope: "},
		{"no protobuf in the envelope", "POST", "application/vnd.kubernetes.protobuf", "k8s\x00\x12\x01\xff", 400, "body: it isn't an object in protobuf: "},
		{"metadata that is a number", "POST", "application/vnd.kubernetes.protobuf", "k8s\x00\x12\x02\x08\x01", 400, "body: it isn't an object in protobuf: metadata isn't an object"},
		{"metadata that isn't protobuf", "POST", "application/vnd.kubernetes.protobuf", "k8s\x00\x12\x03\x0a\x01\xff", 400, "body: it isn't an object in protobuf: metadata: "},
		{"an encoded envelope", "POST", "application/vnd.kubernetes.protobuf", "k8s\x00\x1a\x04gzip", 400, `body: it isn't an object in protobuf: envelope: the encoding "gzip" isn't supported`},
		{"CBOR", "PUT", "application/cbor", "\xa0", 415, `the content type "application/cbor" isn't supported`},
		{"an apply in CBOR", "PATCH", "application/apply-patch+cbor", "\xa0", 415, `PATCH: the content type "application/apply-patch+cbor" isn't supported: use one of ["application/apply-patch+yaml" `},
		{"a patch without a type", "PATCH", "", "{}", 415, `the content type "" isn't supported`},
		{"a patch as a whole", "PATCH", "application/json", "{}", 415, `the content type "application/json" isn't supported`},
		{"a type that isn't one", "POST", ";", "{}", 415, `the content type ";" isn't supported`},
		{"no body", "POST", "", "", 400, "body: it isn't an object in JSON: "},
		{"no JSON", "POST", "", "{", 400, "body: it isn't an object in JSON: "},
		{"a list", "POST", "", "[]", 400, "body: it isn't an object in JSON: "},
		{"null", "POST", "", "null", 400, "body: it isn't an object in JSON: it is null"},
		{"two objects", "POST", "", "{}{}", 400, "body: it isn't an object in JSON: "},
		{"metadata twice", "POST", "", `{"metadata":{},"metadata":{"ownerReferences":[]}}`, 400, `duplicate field "metadata"`},
		{"references twice", "POST", "", `{"metadata":{"ownerReferences":[],"ownerReferences":[]}}`, 400, `metadata: duplicate field "ownerReferences"`},
		{"metadata that is a list", "POST", "", `{"metadata":[]}`, 400, "body: metadata: "},
		{"references that are none", "POST", "", `{"metadata":{"ownerReferences":{}}}`, 400, "body: metadata.ownerReferences: "},
		{"a reference that is none", "POST", "", `{"metadata":{"ownerReferences":["a"]}}`, 400, "body: metadata.ownerReferences: "},
		{"a name that is a number", "POST", "", `{"metadata":{"name":1}}`, 400, "body: metadata.name: "},
		{"no YAML", "POST", "application/yaml", "a: [", 400, "body: it isn't YAML: "},
		{"YAML with a field twice", "POST", "application/yaml", "a: b\na: c", 400, "body: it isn't YAML: "},
		{"YAML that grows", "POST", "application/yaml", bomb.String(), 400, "body: it isn't YAML: "},
		{"large YAML", "POST", "application/yaml", "a: " + strings.Repeat("a", 1<<20), 413, "the body is larger than 1048576 bytes"},
	} {
		t.Run("hooks 50: "+row.reason, func(t *testing.T) {
			path, headers := in, []string{}
			if row.method != "POST" {
				path += "/b"
			}
			if row.kind != "" {
				headers = append(headers, "Content-Type", row.kind)
			}
			assert.Contains(t, client.refused(t, row.code, row.method, path, row.body, headers...), row.want)
		})
	}
	t.Run("hooks 50: a compressed one", func(t *testing.T) {
		var packed strings.Builder
		z := gzip.NewWriter(&packed)
		_, _ = z.Write([]byte("{}"))
		_ = z.Close()
		assert.Contains(t, client.refused(t, http.StatusUnsupportedMediaType, "POST", in, packed.String(), "Content-Encoding", "gzip"), "send the body without an encoding")
	})
	assert.Empty(t, api.requests(), "none of them has reached the API server")
	t.Run("hooks 50: the largest one passes", func(t *testing.T) {
		code, _ := client.do(t, "PATCH", in+"/b", `{"a":"`+strings.Repeat("<", 3<<20-8)+`"}`, "Content-Type", "application/merge-patch+json")
		assert.Equal(t, http.StatusOK, code)
	})
}

// Responses of the API server that aren't for the run.
func TestResponses(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason  string
		respond func(w http.ResponseWriter)
		code    int
		want    string
	}{
		{"the credentials of the operator are refused", func(w http.ResponseWriter) { w.WriteHeader(http.StatusUnauthorized) }, 502, "the API server refuses the credentials of the operator: correct them"},
		{"a redirect", func(w http.ResponseWriter) {
			w.Header().Set("Location", "http://169.254.169.254/")
			w.WriteHeader(http.StatusTemporaryRedirect)
		}, 502, "the API server redirects (307): redirects aren't followed"},
		{"its death", func(http.ResponseWriter) { panic(http.ErrAbortHandler) }, 502, "read /api/v1/namespaces/a/configmaps: EOF"},
		{"an upgrade that nobody has asked for", func(w http.ResponseWriter) {
			w.Header().Set("Connection", "Upgrade")
			w.Header().Set("Upgrade", "websocket")
			w.WriteHeader(http.StatusSwitchingProtocols)
		}, 502, "read /api/v1/namespaces/a/configmaps: "},
	} {
		t.Run("hooks 51: "+row.reason, func(t *testing.T) {
			t.Parallel()
			p, _ := startProxy(t, startFake(t, func(w http.ResponseWriter, _ received) { row.respond(w) }).url)
			assert.Contains(t, use(t, issue(t, p)).refused(t, row.code, "GET", "/api/v1/namespaces/a/configmaps", ""), row.want)
		})
	}
	t.Run("hooks 51: other responses pass as they are", func(t *testing.T) {
		t.Parallel()
		p, _ := startProxy(t, startFake(t, func(w http.ResponseWriter, _ received) {
			w.Header().Set("Warning", `299 - "old"`)
			w.Header().Set("Set-Cookie", "a=b")
			w.WriteHeader(http.StatusConflict)
			_, _ = w.Write([]byte("conflict"))
		}).url)
		client := use(t, issue(t, p))
		response, err := client.client.Do(client.request(t, "GET", "/api/v1/pods", ""))
		require.NoError(t, err)
		content, _ := io.ReadAll(response.Body)
		_ = response.Body.Close()
		assert.Equal(t, "409 conflict", fmt.Sprint(response.StatusCode, " ", string(content)))
		assert.Equal(t, `299 - "old"`, response.Header.Get("Warning"))
		assert.Empty(t, response.Header.Get("Set-Cookie"))
	})
}

// A run with too many requests at once has to wait; others don't.
func TestTooManyRequests(t *testing.T) {
	t.Parallel()
	t.Run("hooks 49: too many requests of a run at once", func(t *testing.T) {
		t.Parallel()
		const most = 64
		gone := make(chan string, most)
		began := make(chan string, most)
		api := startFake(t, func(w http.ResponseWriter, r received) {
			if r.URL.Query().Has("watch") {
				began <- ""
				stream(gone)(w, r)
			}
		})
		p, _ := startProxy(t, api.url)
		access, other := issue(t, p), issue(t, p)
		client := use(t, access)
		for range most {
			response, err := client.client.Do(client.request(t, "GET", "/api/v1/pods?watch=true", ""))
			require.NoError(t, err)
			defer func() { _ = response.Body.Close() }()
			<-began
		}
		got, err := client.client.Do(client.request(t, "GET", "/api/v1/pods", ""))
		require.NoError(t, err)
		content, _ := io.ReadAll(got.Body)
		_ = got.Body.Close()
		assert.Equal(t, "hooks proxy: the run has 64 requests under way already: wait for one of them", message(t, string(content), http.StatusTooManyRequests))
		assert.Equal(t, "1", got.Header.Get("Retry-After"))
		assert.Contains(t, string(content), string(metav1.StatusReasonTooManyRequests))
		code, _ := use(t, other).do(t, "GET", "/api/v1/pods", "")
		assert.Equal(t, http.StatusOK, code)
		access.End()
		for range most {
			<-gone
		}
	})
}
