package proxy_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/tools/hooks/internal/proxy"
)

// stream is an API server that sends a line, and then nothing until the caller goes. gone gets the paths of requests
// that have ended.
func stream(gone chan<- string) func(w http.ResponseWriter, r received) {
	return func(w http.ResponseWriter, r received) {
		_, _ = w.Write([]byte("first\n"))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		gone <- r.URL.Path
	}
}

func TestEnd(t *testing.T) {
	t.Parallel()
	const path = "/api/v1/namespaces/a/configmaps"
	// begin starts a watch and returns what comes after its first line.
	begin := func(t *testing.T, client *run) *bufio.Reader {
		t.Helper()
		response, err := client.client.Do(client.request(t, "GET", path+"?watch=true", ""))
		require.NoError(t, err)
		t.Cleanup(func() { _ = response.Body.Close() })
		lines := bufio.NewReader(response.Body)
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		assert.Equal(t, "first\n", line, "a response comes as it is sent")
		return lines
	}
	for reason, end := range map[string]func(a *proxy.Access, p *proxy.Proxy, stop context.CancelFunc){
		"the end of the access": func(a *proxy.Access, _ *proxy.Proxy, _ context.CancelFunc) { a.End() },
		"the end of the proxy":  func(_ *proxy.Access, p *proxy.Proxy, _ context.CancelFunc) { p.Close() },
		"the end of its context": func(_ *proxy.Access, p *proxy.Proxy, stop context.CancelFunc) {
			stop()
			assert.NoError(t, p.Wait())
		},
	} {
		t.Run("hooks 46: "+reason+" ends a watch under way", func(t *testing.T) {
			t.Parallel()
			gone := make(chan string, 1)
			api := startFake(t, stream(gone))
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			p, err := proxy.New(ctx, config(api.url, io.Discard))
			require.NoError(t, err)
			t.Cleanup(p.Close)
			access := issue(t, p)
			lines := begin(t, use(t, access))
			end(access, p, stop)
			_, err = lines.ReadString('\n')
			assert.Error(t, err)
			assert.Equal(t, path, <-gone, "the API server notices it, too")
		})
	}
	t.Run("hooks 46: other runs go on", func(t *testing.T) {
		t.Parallel()
		gone := make(chan string, 2)
		api := startFake(t, stream(gone))
		p, _ := startProxy(t, api.url)
		one, other := issue(t, p), issue(t, p)
		begin(t, use(t, one))
		begin(t, use(t, other))
		one.End()
		<-gone
		assert.Empty(t, gone)
	})
	t.Run("hooks 46: a body under way, and a response that nobody takes", func(t *testing.T) {
		t.Parallel()
		api := startFake(t, func(w http.ResponseWriter, _ received) {
			for part := []byte(strings.Repeat("a", 1<<16)); ; {
				if _, err := w.Write(part); err != nil {
					return
				}
			}
		})
		p, _ := startProxy(t, api.url)
		access := issue(t, p, configMaps)
		client := use(t, access)
		response, err := client.client.Do(client.request(t, "GET", path, ""))
		require.NoError(t, err)
		defer func() { _ = response.Body.Close() }()
		read, write := io.Pipe()
		request, err := http.NewRequestWithContext(t.Context(), "POST", client.address+path, read)
		require.NoError(t, err)
		request.Header.Set("Authorization", "Bearer "+client.token)
		var sending sync.WaitGroup
		sending.Go(func() {
			if response, err := client.client.Do(request); err == nil {
				assert.NotEqual(t, http.StatusOK, response.StatusCode)
				_ = response.Body.Close()
			}
		})
		_, err = write.Write([]byte("{"))
		require.NoError(t, err)
		began := time.Now()
		access.End()
		assert.Less(t, time.Since(began), 10*time.Second)
		_ = write.Close()
		sending.Wait()
	})
	t.Run("hooks 46: a caller that goes ends its request", func(t *testing.T) {
		t.Parallel()
		gone := make(chan string, 1)
		api := startFake(t, stream(gone))
		p, _ := startProxy(t, api.url)
		client := use(t, issue(t, p))
		ctx, cancel := context.WithCancel(t.Context())
		response, err := client.client.Do(client.request(t, "GET", path, "").WithContext(ctx))
		require.NoError(t, err)
		defer func() { _ = response.Body.Close() }()
		cancel()
		assert.Equal(t, path, <-gone)
	})
}

// Many runs at once, each with its own requests.
func TestConcurrentRuns(t *testing.T) {
	t.Parallel()
	api := startFake(t, existing)
	p, _ := startProxy(t, api.url)
	var runs sync.WaitGroup
	for range 8 {
		access := issue(t, p, configMaps)
		client := use(t, access)
		for range 4 {
			runs.Go(func() {
				for range 8 {
					if response, err := client.client.Do(client.request(t, "POST", "/api/v1/namespaces/a/configmaps", `{"metadata":{"name":"b"}}`)); err == nil {
						_ = response.Body.Close()
					}
				}
			})
		}
		runs.Go(access.End)
		runs.Go(func() { access.Written() })
	}
	runs.Wait()
	p.Close()
}
