// Package site is the controller as it was released as 1.1.0.
package site
