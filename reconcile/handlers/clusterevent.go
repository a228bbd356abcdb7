package handlers

import "github.com/operkit/operkit/reconcile/handlers/internal/engine"

// ClusterEvent is an Event that was reported about an object.
type ClusterEvent = engine.ClusterEvent
