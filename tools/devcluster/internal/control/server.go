package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/operkit/operkit/tools/devcluster/internal/component"
	"github.com/operkit/operkit/tools/devcluster/internal/state"
	"github.com/operkit/operkit/tools/devcluster/internal/unixsocket"
)

// Action is an action on one component.
type Action string

// The actions.
const (
	Start   Action = "start"
	Stop    Action = "stop"
	Restart Action = "restart"
)

// ParseAction returns the action of that name.
func ParseAction(s string) (Action, error) {
	switch a := Action(s); a {
	case Start, Stop, Restart:
		return a, nil
	}
	return "", fmt.Errorf("action %q is unknown: choose from %s, %s, %s", s, Start, Stop, Restart)
}

// Handler is the cluster behind a Server. Its methods are called concurrently.
type Handler interface {
	// Status returns the present state of the cluster.
	Status(ctx context.Context) state.State
	// Down requests the end of the cluster and returns at once.
	Down()
	// Act performs the action and returns when it is complete.
	Act(ctx context.Context, name component.Name, action Action) error
}

// closeGrace is how long Close waits for responses that are being written.
const closeGrace = 500 * time.Millisecond

// Server serves the control socket. Make one with Listen.
type Server struct {
	http *http.Server
	done chan struct{}
}

// Listen serves handler on the socket path until Close.
func Listen(path string, handler Handler) (*Server, error) {
	listener, err := unixsocket.Listen(path)
	if err != nil {
		return nil, fmt.Errorf("control: %w", err)
	}
	s := &Server{http: &http.Server{Handler: routes(handler), ReadHeaderTimeout: closeGrace}, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		// It returns only when the listener is closed.
		_ = s.http.Serve(listener)
	}()
	return s, nil
}

// Close removes the socket and ends the server. It waits half a second for responses that are being written.
func (s *Server) Close(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, closeGrace)
	defer cancel()
	if err := s.http.Shutdown(ctx); err != nil {
		_ = s.http.Close()
	}
	<-s.done
}

func routes(handler Handler) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, r *http.Request) {
		answer(w, http.StatusOK, handler.Status(r.Context()))
	})
	mux.HandleFunc("POST /down", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusAccepted, struct{}{})
		handler.Down()
	})
	mux.HandleFunc("POST /components/{name}/{action}", func(w http.ResponseWriter, r *http.Request) {
		name, nameErr := component.Parse(r.PathValue("name"))
		action, actionErr := ParseAction(r.PathValue("action"))
		if err := errors.Join(nameErr, actionErr); err != nil {
			answer(w, http.StatusBadRequest, failure{Error: err.Error()})
			return
		}
		if err := handler.Act(r.Context(), name, action); err != nil {
			answer(w, http.StatusConflict, failure{Error: err.Error()})
			return
		}
		answer(w, http.StatusOK, struct{}{})
	})
	return mux
}

type failure struct {
	Error string `json:"error"`
}

func answer(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	// An error is ignored: the client is gone, so nobody could receive it.
	_ = json.NewEncoder(w).Encode(body)
}
