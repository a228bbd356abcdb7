// Package site is the controller as it was released as 1.0.0.
package site
