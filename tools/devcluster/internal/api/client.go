package api

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/operkit/operkit/tools/devcluster/internal/pki"
)

// requestTimeout ends a request that a server has accepted but doesn't answer.
const requestTimeout = 10 * time.Second

// maxAnswer is the maximum size of a response in bytes; the rest isn't read.
const maxAnswer = 16 << 20

// Client sends requests to servers whose certificates one authority signed. Its methods may be
// called concurrently.
type Client struct {
	server string
	http   *http.Client
}

// StatusError is the error for a response that isn't a success.
type StatusError struct {
	Code    int
	Message string
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("%d %s: %s", e.Code, http.StatusText(e.Code), e.Message)
}

// NewClient returns a client of the server at that URL, authenticated by identity.
func NewClient(server string, authority []byte, identity pki.Pair) (*Client, error) {
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(authority) {
		return nil, errors.New("api client: no certificate authority in PEM form")
	}
	certificate, err := tls.X509KeyPair(identity.Certificate, identity.Key)
	if err != nil {
		return nil, fmt.Errorf("api client: %w", err)
	}
	transport := &http.Transport{
		ForceAttemptHTTP2: true,
		TLSClientConfig:   &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12},
	}
	return &Client{server: server, http: &http.Client{Transport: transport, Timeout: requestTimeout}}, nil
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Get reads the object at path into the value that into points to. With a nil into it only checks for success.
func (c *Client) Get(ctx context.Context, path string, into any) error {
	return c.do(ctx, http.MethodGet, c.server+path, nil, into)
}

// Create posts the object to the collection at path. The response is read into the value that into points to, unless
// into is nil.
func (c *Client) Create(ctx context.Context, path string, object, into any) error {
	body, err := json.Marshal(object)
	if err != nil {
		return fmt.Errorf("POST %s: %w", path, err)
	}
	return c.do(ctx, http.MethodPost, c.server+path, body, into)
}

// Delete deletes the object at path.
func (c *Client) Delete(ctx context.Context, path string) error {
	return c.do(ctx, http.MethodDelete, c.server+path, nil, nil)
}

// Healthy checks the health endpoint at that URL. The server may be another one with a certificate of the same
// authority.
func (c *Client) Healthy(ctx context.Context, url string) error {
	return c.do(ctx, http.MethodGet, url, nil, nil)
}

func (c *Client) do(ctx context.Context, method, url string, body []byte, into any) error {
	request, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Accept", "application/json, */*")
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "devcluster")
	response, err := c.http.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, url, err)
	}
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return fmt.Errorf("%s %s: %w", method, url, statusError(response.StatusCode, answer))
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(answer, into); err != nil {
		return fmt.Errorf("%s %s: answer: %w", method, url, err)
	}
	return nil
}

// statusError returns an error with the message of a Status object, or with the whole response if it isn't one.
func statusError(code int, answer []byte) *StatusError {
	var status struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(answer, &status) == nil && status.Message != "" {
		return &StatusError{Code: code, Message: status.Message}
	}
	return &StatusError{Code: code, Message: string(bytes.TrimSpace(answer))}
}

// IsNotFound reports whether err is a response with status 404.
func IsNotFound(err error) bool {
	var status *StatusError
	return errors.As(err, &status) && status.Code == http.StatusNotFound
}
