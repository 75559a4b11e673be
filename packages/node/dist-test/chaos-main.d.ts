export {};
//# sourceMappingURL=chaos-main.d.ts.map