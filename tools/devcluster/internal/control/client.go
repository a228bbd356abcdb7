package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"

	"github.com/operkit/operkit/tools/devcluster/internal/component"
	"github.com/operkit/operkit/tools/devcluster/internal/state"
	"github.com/operkit/operkit/tools/devcluster/internal/unixsocket"
)

// ErrNotRunning is the error if no cluster runs, so that nothing serves the socket.
var ErrNotRunning = errors.New("no cluster runs")

// Client talks to the Server of a socket. Its methods may be called concurrently.
type Client struct {
	http http.Client
}

// NewClient returns a client of the socket path. It connects when a method is called.
func NewClient(path string) *Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		conn, err := unixsocket.Dial(ctx, path)
		if err != nil {
			return nil, errors.Join(ErrNotRunning, err)
		}
		return conn, nil
	}
	return &Client{http: http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}}
}

// Status returns the state of the cluster, or ErrNotRunning if no cluster runs.
func (c *Client) Status(ctx context.Context) (state.State, error) {
	var s state.State
	err := c.do(ctx, http.MethodGet, "/status", &s)
	return s, err
}

// Down requests the end of the cluster. It returns ErrNotRunning if no cluster runs.
func (c *Client) Down(ctx context.Context) error {
	return c.do(ctx, http.MethodPost, "/down", nil)
}

// Act performs the action on the component and returns when it is complete.
func (c *Client) Act(ctx context.Context, name component.Name, action Action) error {
	return c.do(ctx, http.MethodPost, "/components/"+url.PathEscape(string(name))+"/"+url.PathEscape(string(action)), nil)
}

func (c *Client) do(ctx context.Context, method, path string, into any) error {
	request, err := http.NewRequestWithContext(ctx, method, "http://devcluster"+path, nil)
	if err != nil {
		return fmt.Errorf("control: %w", err)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return fmt.Errorf("control: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	decoder := json.NewDecoder(response.Body)
	if response.StatusCode > 299 {
		var f failure
		if err := decoder.Decode(&f); err != nil || f.Error == "" {
			return fmt.Errorf("control: %s %s: %s", method, path, response.Status)
		}
		return errors.New(f.Error)
	}
	if into == nil {
		return nil
	}
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("control: %s %s: answer: %w", method, path, err)
	}
	return nil
}
