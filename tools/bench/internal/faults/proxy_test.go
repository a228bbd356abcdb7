package faults_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/operkit/operkit/tools/bench/internal/faults"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
)

func TestProxy(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprint(w, r.Method, " ", r.URL.Path, " ", r.Header.Get("Impersonate-User"))
	}))
	t.Cleanup(server.Close)
	ask := func(share float64, method string) (codes map[int]int, retries int) {
		p, err := faults.Start(&rest.Config{Host: server.URL}, faults.Hooks{Fault: faults.Dice(share, 7)})
		require.NoError(t, err)
		client := &http.Client{Transport: &http.Transport{}}
		codes = map[int]int{}
		for range 1000 {
			request, err := http.NewRequestWithContext(t.Context(), method, p.Address()+"/api/v1/x", strings.NewReader("{}"))
			require.NoError(t, err)
			request.Header.Set("Impersonate-User", "bench:x")
			answer, err := client.Do(request)
			require.NoError(t, err)
			if answer.Header.Get("Retry-After") != "" {
				retries++
			}
			require.NoError(t, answer.Body.Close())
			codes[answer.StatusCode]++
		}
		client.CloseIdleConnections()
		require.NoError(t, p.Stop())
		for code, times := range p.Answered() {
			assert.Equal(t, times, codes[code])
		}
		return codes, retries
	}
	for reason, row := range map[string]struct {
		share  float64
		method string
		least  map[int]int
		none   []int
	}{
		"none":                             {0, http.MethodPatch, map[int]int{200: 1000}, []int{409, 429, 500}},
		"a fifth":                          {0.2, http.MethodPatch, map[int]int{200: 750, 409: 40, 429: 40, 500: 40}, nil},
		"who reads is never in a conflict": {0.2, http.MethodGet, map[int]int{200: 750, 429: 40, 500: 80}, []int{409}},
		"all":                              {1, http.MethodPost, map[int]int{409: 200, 429: 200, 500: 200}, []int{200}},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			codes, retries := ask(row.share, row.method)
			for code, least := range row.least {
				assert.GreaterOrEqual(t, codes[code], least, code)
			}
			for _, code := range row.none {
				assert.Zero(t, codes[code], code)
			}
			assert.Equal(t, codes[429], retries, "who is told to wait is told how long")
		})
	}
	_, err := faults.Start(&rest.Config{Host: "http://%zz"}, faults.Hooks{})
	assert.ErrorContains(t, err, "proxy: ")
}
