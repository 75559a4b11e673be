import { type LedgerReport } from 'troupe';
export interface ChaosPlan {
    readonly actors: number;
    readonly milliseconds: number;
    readonly hangAfter: number;
    /** Milliseconds between kills. */
    readonly every: number;
    readonly seed: number;
    readonly sharedMemory?: boolean | undefined;
    /** Milliseconds that everything after the kills may take; then the run ends with a diagnosis. */
    readonly patience?: number;
}
export interface ChaosResult {
    readonly kills: Readonly<Record<string, number>>;
    readonly losses: Readonly<Record<string, number>>;
    /** Milliseconds from the deadline of each hung thread to its end. */
    readonly overdue: readonly number[];
    readonly restarts: number;
    readonly answered: number;
    readonly complaints: readonly string[];
    readonly ledger: LedgerReport;
    readonly accounted: number;
    readonly settledIn: number;
}
export declare function runChaos(plan: ChaosPlan): Promise<ChaosResult>;
//# sourceMappingURL=chaos.d.ts.map